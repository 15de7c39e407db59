"""The page with nothing behind it but a word on what runs: all there is until games are served."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel

from service import __version__

PAGE = Path(__file__).parent / "static"


class Health(BaseModel):
    """Who answers, and which table is open."""

    version: str
    table: str | None


def first_page(*, table: str | None = None, page: Path = PAGE) -> FastAPI:
    """The application for one table; tests build as many as they like."""
    app = FastAPI(title="Kiebitz", version=__version__, openapi_url="/api/v1/openapi.json")

    @app.get("/api/v1/health")
    def health() -> Health:
        """Whether the program runs, and which table is open."""
        return Health(version=__version__, table=table)

    app.mount("/", StaticFiles(directory=page, html=True), name="page")
    return app
