"""The build hook: a wheel holds the web page, and building one builds the page."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))

import page_build


class PageBuildHook(BuildHookInterface[Any]):
    """Builds the page before the wheel is put together."""

    def dependencies(self) -> list[str]:
        return [] if page_build.node_of_machine() else [page_build.NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the page unless it is there; pyproject.toml says that its files belong in."""
        try:
            page_build.build()
        except page_build.PageBuildError as error:
            sys.stderr.write(error.printed)
            self.app.abort(str(error))
