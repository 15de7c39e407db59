"""From the text of a `table.toml` to a table; every mistake is told with line and key."""

import difflib
import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from calibration.scene import CameraPlace, Marker, Quarter, Scene
from rules.errors import RulesError, nearest
from rules.game import GameSpec, Value
from rules.lattice import Board, Lattice, Millimetres
from rules.registry import find_game
from service.errors import ServiceError
from service.table import Player, Table, is_open
from service.toml_text import NoToml, Path, key_lines, parse_toml

TABLE_KEYS = ("game", "first", "board", "colours", "players", "markers", "cameras", "rules")
BOARD_KEYS = (
    "columns", "ranks", "levels", "pitch_mm", "unit_mm", "margin_mm",
    "frame_height_mm", "frame_width_mm", "recess_mm",
)  # fmt: skip
CAMERA_NAME = re.compile("[A-Za-z0-9_-]+")
CAMERA_KEYS = ("source", "clock", "rotate", "offset_s")
MARKERS = 50  # in the dictionary DICT_4X4_50


class TableError(ServiceError):
    """A table folder that cannot be used; names file, line and key, and what was expected."""


class UnknownCamera(TableError):
    """A camera that the table does not have; says how it gets one."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        near = nearest(name, known)
        message = f"unknown camera {name!r}{near}"
        if not near.endswith("?"):
            heading = f"[cameras.{name if CAMERA_NAME.fullmatch(name) else 'NAME'}]"
            message += f"; another camera gets a block {heading} in table.toml"
        super().__init__(message)


def read_table_text(text: str, name: str = "table.toml") -> Table:
    """The table of a text; raises TableError that tells of all its mistakes."""
    try:
        values = parse_toml(text)
    except NoToml as error:
        raise TableError(f"{name}, line {error.line}: {error}") from None
    mistakes = Mistakes(key_lines(text))
    table = _table(Entries(values, (), mistakes))
    if table is None or mistakes:
        raise TableError(mistakes.told(name))
    return table


class Mistakes(list[tuple[int, str]]):
    """What is wrong in a file: line numbers and sentences."""

    def __init__(self, lines: Mapping[Path, int]) -> None:
        super().__init__()
        self.lines = lines

    def add(self, path: Path, sentence: str) -> None:
        """Remember what is wrong with the entry of this path, or with what holds it."""
        while path and path not in self.lines:
            path = path[:-1]
        self.append((self.lines.get(path, 1), sentence))

    def told(self, name: str) -> str:
        """All of it, in the order of the lines."""
        if len(self) == 1:
            return f"{name}, line {self[0][0]}: {self[0][1]}"
        lines = "".join(f"\n  line {line}: {sentence}" for line, sentence in sorted(self))
        return f"{name} has {len(self)} mistakes:{lines}"


class Entries:
    """The entries under one heading: hands out checked values, and tells which were unknown."""

    def __init__(self, values: Mapping[str, Any], path: Path, mistakes: Mistakes) -> None:
        self.values = values
        self.path = path
        self.mistakes = mistakes

    def wrong(self, key: str, expected: str) -> None:
        """Tell that a value is not what was expected, or that it is missing."""
        said = f"{key} = {_shown(self.values[key])}" if key in self.values else f"{key} is missing"
        self.mistakes.add((*self.path, key), f"{said}: expected {expected}")

    def known(self, keys: Collection[str], close_only: bool = False) -> None:
        """Tell of every key that is none of these; with `close_only`, of those that look alike."""
        for key in self.values:
            alike = difflib.get_close_matches(key, keys, n=1, cutoff=0.7)
            if key not in keys and (alike or not close_only):
                where = f" in [{'.'.join(str(p) for p in self.path)}]" if self.path else ""
                self.mistakes.add(
                    (*self.path, key), f"unknown key {key!r}{where}{nearest(key, keys)}"
                )

    def under(self, key: str) -> "Entries":
        """The entries under a heading; none where it is missing."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.wrong(key, f"a heading [{'.'.join(map(str, (*self.path, key)))}] with lines below")
            value = {}
        return Entries(value, (*self.path, key), self.mistakes)

    def each(self, key: str) -> list["Entries"]:
        """The entries of every [[key]]; none where there is no such heading."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self.wrong(key, f"headings [[{key}]] with lines below")
            values = []
        return [Entries(v, (*self.path, key, n), self.mistakes) for n, v in enumerate(values)]

    def text(self, key: str, default: str = "") -> str:
        """A text."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            self.wrong(key, f'a text in quotes, such as "{value}"')
            return default
        return value

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number."""
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.wrong(key, f"a whole number from {least} to {most}")
            return default
        return value

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A number."""
        value = self.values.get(key, default)
        if not _is_number(value) or not least <= value <= most:
            self.wrong(key, f"a number from {least:g} to {most:g}")
            return default
        return float(value)

    def millimetres(
        self, key: str, default: Millimetres | None, least: float = -math.inf
    ) -> Millimetres | None:
        """A number of millimetres, or "auto"."""
        value = self.values.get(key, default)
        if value is None or value == "auto" or (_is_number(value) and value >= least):
            return cast(
                "Millimetres | None", value if isinstance(value, str | None) else float(value)
            )
        self.wrong(
            key, 'a number of millimetres, or "auto"' + (", not below 0" if least == 0 else "")
        )
        return default

    def numbers(
        self, key: str, default: tuple[float, ...], *, one_for_all: bool
    ) -> tuple[float, ...]:
        """As many numbers as the default has; or one that stands for all of them."""
        value = self.values.get(key, default)
        if one_for_all and _is_number(value):
            return (float(value),) * len(default)
        fits = isinstance(value, list | tuple) and len(value) == len(default)
        if fits and all(_is_number(v) for v in value):
            return tuple(float(v) for v in value)
        example = list(default)
        one = "one number, or " if one_for_all else ""
        self.wrong(key, f"{one}{len(default)} of them, such as {example}")
        return default


def _is_number(value: object) -> bool:
    """Whether this is a number that can be measured."""
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return usable and math.isfinite(cast("float", value)) and abs(cast("float", value)) < 1e6


def _shown(value: object) -> str:
    """A value as it stands in the file, cut to a readable length."""
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


# --- the parts of a table ------------------------------------------------------------------


def _table(entries: Entries) -> Table | None:
    """The whole file; None where not even the game is known."""
    if "game" not in entries.values:
        entries.wrong("game", 'the game\'s name, such as game = "kewbz"')
        return None
    try:
        spec = find_game(entries.text("game"))
    except RulesError as error:
        entries.mistakes.add(("game",), str(error))
        return None
    entries.known([*TABLE_KEYS, "details"] if _own_details(spec) else TABLE_KEYS)
    scene = Scene(
        board=_board(entries.under("board"), spec),
        colours=_colours(entries.under("colours"), spec),
        markers=_markers(entries.each("markers")),
        cameras=_cameras(entries.under("cameras")),
    )
    table = Table(
        game=spec.name,
        scene=scene,
        first=entries.text("first"),
        players=_players(entries.each("players"), spec),
        rules=_rules(entries.under("rules"), spec),
        details=_details(entries.under("details"), spec),
    )
    _try_out(table, entries.mistakes)
    return table


def _try_out(table: Table, mistakes: Mistakes) -> None:
    """Let the game itself say what does not go together."""
    for path, look in (
        (("first",), table.spec.seats),
        (("board",), table.spec.set_up),
    ):
        try:
            if not mistakes:
                look(table.setup())
        except RulesError as error:
            mistakes.add(path, str(error))


def _board(entries: Entries, spec: GameSpec) -> Board:
    usual, lattice = spec.board, spec.board.lattice
    entries.known(BOARD_KEYS)
    columns = entries.whole("columns", lattice.columns, 1, 26)
    ranks = entries.whole("ranks", lattice.ranks, 1, 99)
    levels = entries.whole("levels", lattice.levels, 1, 99)
    if levels != lattice.levels and not is_open(spec):
        always = f"{spec.title} always has {lattice.levels} levels; leave this line out"
        entries.mistakes.add((*entries.path, "levels"), always)
        levels = lattice.levels
    pitch = entries.number("pitch_mm", lattice.pitch_mm, 1, 999)
    unit = entries.numbers("unit_mm", lattice.unit_mm, one_for_all=True)
    if not all(1 <= edge < 1000 for edge in unit[:2]) or not 0 < unit[2] < 1000:
        entries.wrong("unit_mm", "width and depth of one unit from 1 to 999 mm, and its height")
        unit = lattice.unit_mm
    elif max(unit[:2]) > pitch:
        entries.wrong("unit_mm", f"pieces that fit side by side into a pitch of {pitch:g} mm")
    margin = entries.numbers("margin_mm", usual.margin_mm, one_for_all=True)
    return Board(
        lattice=Lattice(columns, ranks, levels, pitch, (unit[0], unit[1], unit[2])),
        margin_mm=(margin[0], margin[1], margin[2], margin[3]),
        frame_height_mm=entries.millimetres("frame_height_mm", usual.frame_height_mm, 0.0),
        frame_width_mm=entries.millimetres("frame_width_mm", usual.frame_width_mm, 0.0),
        recess_mm=entries.millimetres("recess_mm", usual.recess_mm, 0.0),
    )


def _colours(entries: Entries, spec: GameSpec) -> dict[str, str]:
    """The names of all colours; the letters are the game's, unless it has none of its own."""
    if is_open(spec) and entries.values:
        for letter in entries.values:
            if not re.fullmatch("[A-Z]", letter):
                entries.wrong(letter, 'one capital letter for a colour, such as B = "blue"')
        return {letter: entries.text(letter) for letter in entries.values}
    entries.known(list(spec.colours))
    return {letter: entries.text(letter, name) for letter, name in spec.colours.items()}


def _players(each: list[Entries], spec: GameSpec) -> tuple[Player, ...]:
    """The players in the order of the file, which is the order of play."""
    players: list[Player] = []
    for entries in each:
        id_ = entries.text("id")
        if id_ not in spec.players:
            entries.wrong("id", f"one of {', '.join(spec.players)}")
            continue
        if any(player.id == id_ for player in players):
            entries.wrong("id", "every player once, and this one stands above already")
            continue
        own = [key.removesuffix(f".{id_}") for key in spec.details if key.endswith(f".{id_}")]
        entries.known(["id", "name", *own])
        details = {key: entries.text(key) for key in own if key in entries.values}
        players.append(Player(id_, entries.text("name"), details))
    return tuple(players)


def _markers(each: list[Entries]) -> tuple[Marker, ...]:
    markers: dict[int, Marker] = {}
    for entries in each:
        entries.known(["id", "corner_mm", "size_mm", "z_mm"])
        id_ = entries.whole("id", -1, 0, MARKERS - 1)
        if id_ in markers:
            entries.wrong("id", f"another number; marker {id_} is already there")
        corner = entries.numbers("corner_mm", (0.0, 0.0), one_for_all=False)
        if "corner_mm" not in entries.values:
            entries.wrong("corner_mm", "the marker's smallest x and y, such as [-55.0, -55.0]")
        size = entries.number("size_mm", 40.0, 5, 999)
        if "size_mm" not in entries.values:
            entries.wrong("size_mm", "the edge of the black square in millimetres")
        z = entries.millimetres("z_mm", "auto")
        markers[id_] = Marker(id_, (corner[0], corner[1]), size, "auto" if z is None else z)
    return tuple(markers.values())


def _cameras(entries: Entries) -> dict[str, CameraPlace]:
    cameras = {}
    for name in entries.values:
        if not CAMERA_NAME.fullmatch(name) or name.isdigit():
            entries.wrong(name, "a camera's name of letters, digits, - and _, such as overhead")
            continue
        if not isinstance(entries.values[name], dict):
            entries.wrong(name, "a camera's name in the heading, such as [cameras.overhead]")
            continue
        cameras[name] = _camera(entries.under(name), name)
    return cameras


def _camera(entries: Entries, name: str) -> CameraPlace:
    """One camera; keys that are not known here are for its device, and kept."""
    entries.known(CAMERA_KEYS, close_only=True)
    source = entries.values.get("source")
    if not (source is None or (isinstance(source, str) and source) or type(source) is int):
        entries.wrong("source", 'a device number, or a text such as "phone" or an address')
        source = None
    rotate = entries.whole("rotate", 0, 0, 270)
    if rotate not in (0, 90, 180, 270):
        entries.wrong("rotate", "0, 90, 180 or 270")
        rotate = 0
    return CameraPlace(
        name=name,
        source=source,
        clock=entries.number("clock", 6.0, 0, 12),
        rotate=cast("Quarter", rotate),
        offset_s=entries.number("offset_s", 0.0, -86400, 86400),
        settings={k: v for k, v in entries.values.items() if k not in CAMERA_KEYS},
    )


def _rules(entries: Entries, spec: GameSpec) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, value in entries.values.items():
        try:
            values[key] = spec.option(key).check(spec.name, value)
        except RulesError as error:
            entries.mistakes.add((*entries.path, key), str(error))
    return values


def _details(entries: Entries, spec: GameSpec) -> dict[str, str]:
    """What only this game knows, and no player of it alone."""
    entries.known(_own_details(spec))
    return {key: entries.text(key) for key in entries.values}


def _own_details(spec: GameSpec) -> list[str]:
    """The keys of [details] for a game; colours have a heading of their own."""
    return [key for key in spec.details if "." not in key and key != "colours"]
