"""The web application: roles, sessions and pictures under `/api/v1`, and the page itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from rules.errors import KiebitzError
from service import __version__
from service.api import access, cameras, games, live, play, tables
from service.api.context import Server
from service.api.models import Problem
from service.auth import Access
from service.errors import ServiceError
from service.guard import Guard, own_names
from service.sessions import Sessions
from service.settings import Settings
from service.store import Store

PAGE = Path(__file__).parent / "static"
API = "/api/v1"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "the game does not allow it",
        401: "nobody knows this device",
        403: "this role may not do that",
        404: "there is no such thing",
        409: "not in this state of the game",
        413: "too large",
        422: "it cannot be understood",
        429: "too often, or too many",
        503: "the disk refuses",
    }.items()
}


def make_server(settings: Settings, *, store: Store | None = None) -> Server:
    """The parts with a lifetime, for an application."""
    store = store if store is not None else Store(settings.data / "kiebitz.sqlite")
    return Server(settings, store, Access(store), Sessions(store))


def create_app(server: Server, *, page: Path = PAGE) -> FastAPI:
    """The application around these parts; tests build as many as they like."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        server.ready = True
        try:
            yield
        finally:
            server.ready = False
            await asyncio.to_thread(server.sessions.close)
            server.store.close()

    app = FastAPI(
        title="Kiebitz",
        version=__version__,
        description="Watch table games, keep the score, tell what is wrong and why.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.server = server
    api = APIRouter(prefix=API, responses=PROBLEMS)
    for module in (access, games, play, cameras, tables, live):
        api.include_router(module.router)
    api.include_router(games.demos)
    app.include_router(api)
    _answer_errors(app)
    app.mount("/", GZipMiddleware(Page(directory=page, html=True), 500), name="page")
    settings = server.settings

    def largest(path: str) -> int:
        if path.endswith("/frame"):
            return settings.largest_frame
        return settings.largest_file if path.endswith("/import") else settings.largest_json

    names = own_names(settings.names)
    app.add_middleware(_guard, names=names, largest=largest)
    return app


def _guard(app: ASGIApp, *, names: frozenset[str], largest: Callable[[str], int]) -> ASGIApp:
    return Guard(app, names, largest)


class Page(StaticFiles):
    """The built page; every address without a file is answered by the page itself."""

    async def get_response(self, path: str, scope: Any) -> Response:
        try:
            answer = await super().get_response(path, scope)
        except StarletteHTTPException as error:
            if error.status_code != 404 or "." in path.rsplit("/", 1)[-1] or path.startswith("api"):
                raise
            answer = await super().get_response("index.html", scope)
        if path.startswith("assets/"):
            answer.headers["cache-control"] = "public, max-age=31536000, immutable"
        else:
            answer.headers.setdefault("cache-control", "no-cache")
        return answer


def _answer_errors(app: FastAPI) -> None:
    """Turn every error into one JSON form, here and nowhere else."""

    @app.exception_handler(KiebitzError)
    def known(_: Request, error: KiebitzError) -> Response:
        status = error.status if isinstance(error, ServiceError) else 422
        return _problem(status, str(error))

    @app.exception_handler(StarletteHTTPException)
    def http(_: Request, error: HTTPException) -> Response:
        return _problem(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        # Only the place and the reason: what was sent may be a token.
        reasons = [
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
        ]
        return _problem(422, "; ".join(reasons[:5]))


def _problem(status: int, why: str, headers: Any = None) -> Response:
    return Response(orjson.dumps({"error": why}), status, headers, media_type="application/json")
