"""Everything about the service that may be set, with defaults that run the demo.

Each field can be given as an environment variable with the prefix `KIEBITZ_`.
"""

import os
import sys
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def data_folder() -> Path:
    """Where this system keeps what programs remember for their users."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "Kiebitz"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/Kiebitz").expanduser()
    return Path(os.environ.get("XDG_DATA_HOME", "~/.local/share")).expanduser() / "kiebitz"


class Settings(BaseSettings):
    """How the server runs."""

    model_config = SettingsConfigDict(env_prefix="KIEBITZ_", frozen=True)

    host: str = "0.0.0.0"  # noqa: S104  phones at the table must reach it; roles decide who may what
    port: int = Field(default=8000, ge=0, le=65535)
    https_port: int = Field(default=8443, ge=0, le=65535, description="0 serves no HTTPS")
    data: Path = Field(default_factory=data_folder)
    tables: Path | None = Field(default=None, description="folder of tables; default: data/tables")
    names: tuple[str, ...] = Field(
        default=(), description="further names by which browsers may call this machine"
    )
    localhost: Literal["host", "nobody"] = Field(
        default="host", description="who a browser on this machine is without pairing"
    )
    onlookers: Literal["invited", "open"] = Field(
        default="invited", description="whether watching needs an invitation"
    )
    announce: bool = Field(default=True, description="answer to kiebitz.local on the network")
    frames_per_second: float = Field(default=10.0, gt=0, le=30)
    largest_json: int = 256_000
    largest_frame: int = 4_000_000
    largest_file: int = 64_000_000

    @property
    def tables_folder(self) -> Path:
        return self.tables if self.tables is not None else self.data / "tables"
