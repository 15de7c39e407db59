"""From a table to the text of its `table.toml`, with the comments that help to edit it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time

from calibration.scene import CameraPlace, Marker
from rules.game import GameSpec, Option, Value
from rules.lattice import Board
from service.table import Player, Table, is_open


def table_text(table: Table) -> str:
    """The text of a table; reading it gives the same table again."""
    return "\n".join([*_lines(table), ""])


def _lines(table: Table) -> Iterator[str]:
    spec, scene = table.spec, table.scene
    yield f"# A table for {spec.title}: change what is different at yours."
    yield f"game = {_value(table.game)}"
    if table.first:
        ids = [player.id for player in table.players] or spec.players
        yield _noted(f"first = {_value(table.first)}", f"who begins: {_choice(ids)}")
    yield from ("", "[board]")
    yield from _board_lines(scene.board, spec)
    yield from ("", "[colours]")
    for letter, name in scene.colours.items():
        yield f"{letter} = {_value(name)}"
    for player in table.players:
        yield from ("", "[[players]]", *_player_lines(player, spec))
    for marker in scene.markers:
        yield from ("", "[[markers]]", *_marker_lines(marker))
    for camera in scene.cameras.values():
        yield from ("", f"[cameras.{camera.name}]", *_camera_lines(camera))
    if len(scene.cameras) == 1:
        yield from ("", *_second_camera(*scene.cameras))
    if spec.options:
        yield from ("", "[rules]", *_rule_lines(table.rules, spec.options))
    if table.details:
        yield from ("", "[details]", *_plain_lines(table.details))


def _board_lines(board: Board, spec: GameSpec) -> Iterator[str]:
    lattice = board.lattice
    yield f"columns = {lattice.columns}"
    yield f"ranks = {lattice.ranks}"
    if is_open(spec):
        yield _noted(f"levels = {lattice.levels}", "how high pieces may stand on each other")
    yield _noted(f"pitch_mm = {_value(lattice.pitch_mm)}", "from cell to cell")
    yield _noted(f"unit_mm = {_value(lattice.unit_mm)}", "one cube, or one unit of a longer piece")
    margin = board.margin_mm[0] if len(set(board.margin_mm)) == 1 else board.margin_mm
    yield _noted(f"margin_mm = {_value(margin)}", "board beyond the cells; need not be exact")
    for key, what in (
        ("frame_height_mm", 'the frame around the cells: a number, or "auto"'),
        ("frame_width_mm", "the same"),
        ("recess_mm", 'how deep the lowest pieces stand in the board: a number, or "auto"'),
    ):
        if (size := getattr(board, key)) is not None:
            yield _noted(f"{key} = {_value(size)}", what)


def _player_lines(player: Player, spec: GameSpec) -> Iterator[str]:
    yield f"id = {_value(player.id)}"
    if player.name:
        yield f"name = {_value(player.name)}"
    yield from _plain_lines(player.details)
    own = [
        key.removesuffix(f".{player.id}") for key in spec.details if key.endswith(f".{player.id}")
    ]
    if missing := [key for key in own if key not in player.details]:
        yield f"# may also be said: {', '.join(missing)} (docs/games/{spec.name}.md tells)"


def _marker_lines(marker: Marker) -> Iterator[str]:
    yield _noted(f"id = {marker.id}", "ArUco, DICT_4X4_50")
    yield _noted(f"corner_mm = {_value(marker.corner_mm)}", "smallest x and y of the black square")
    yield f"size_mm = {_value(marker.size_mm)}"
    yield _noted(f"z_mm = {_value(marker.z_mm)}", 'its height above the cells, or "auto"')


def _camera_lines(camera: CameraPlace) -> Iterator[str]:
    if camera.source is not None:
        source = f"source = {_value(camera.source)}"
        yield _noted(source, 'device number, address, video, folder of pictures, or "phone"')
    yield _noted(f"clock = {camera.clock:g}", "seen from 6 in front, 9 left, 12 behind, 3 right")
    if camera.rotate:
        yield f"rotate = {camera.rotate}"
    if camera.offset_s:
        yield f"offset_s = {_value(camera.offset_s)}"
    yield from _plain_lines(camera.settings)


def _second_camera(first: str) -> Iterator[str]:
    """How a second camera would be told, for whoever has one."""
    name = "overhead" if first == "side" else "side"
    yield "# Each camera has a block of its own. For a second one, take away the # of these lines:"
    for line in (f"[cameras.{name}]", *_camera_lines(CameraPlace(name, source=1))):
        yield f"# {line}"


def _rule_lines(rules: Mapping[str, Value], options: Iterable[Option]) -> Iterator[str]:
    for option in options:
        line = f"{option.key} = {_value(rules.get(option.key, option.default))}"
        if option.choices:
            yield _noted(line, _choice(map(_value, option.choices)))
        elif option.most:
            yield _noted(line, f"{option.least} to {option.most}")
        else:
            yield line


def _plain_lines(values: Mapping[str, object]) -> Iterator[str]:
    """Keys and values without comments."""
    return (f"{_key(key)} = {_value(value)}" for key, value in values.items())


def _noted(line: str, comment: str) -> str:
    """A line with its comment, in the comments' column where it is short enough."""
    return f"{line:<30}# {comment}"


def _choice(words: Iterable[str]) -> str:
    """Words to choose from."""
    *rest, last = words
    return f"{', '.join(rest)} or {last}" if rest else last


def _key(key: str) -> str:
    """A key as TOML wants it."""
    bare = key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if bare else _value(key)


def _value(value: object) -> str:
    """A value as TOML wants it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_plain_lines(value)) + " }" if value else "{}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
