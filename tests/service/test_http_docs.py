"""docs/http-api.md names every route, and no route that does not exist."""

import re

from tests.conftest import ROOT
from tests.service.conftest import API, Room


def test_every_route_is_documented(room: Room) -> None:
    """Whoever adds a route adds its line; whoever removes one, too."""
    text = (ROOT / "docs" / "http-api.md").read_text("utf-8")
    described = set(room.host.get(f"{API}/openapi.json").json()["paths"])
    paths = {path.removeprefix(API) for path in described}

    missing = [path for path in sorted(paths) if _without_last_picture(path) not in text]
    named = set(re.findall(r"`(?:GET|POST|PUT|DELETE) (/[^`? ]+)", text))

    assert missing == []
    assert named - paths == set()


def _without_last_picture(path: str) -> str:
    """`.../pictures/{camera}.jpg` is described in the line of `.../pictures`."""
    return path.removesuffix("/{camera}.jpg") if "/pictures/" in path else path
