"""A written game record: a header, then one turn a line, as the contract describes it.

game = kewbz
players = B Y

B +d4B
Y +d5Y
B +c5B +d5B        # corner at d5
= x8/x8/x8/x2,B,YB,x4/x3,B,x4/x8/x8/x8
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rules.errors import KiebitzError, NotationError, RecordError, SetupError
from rules.game import GameSpec, Setup, Value
from rules.lattice import Board, Lattice
from rules.registry import find_game
from rules.stacks import Stacks, parse_position
from rules.turn import Turn, parse_move

_BOARD_KEYS = ("size", "columns", "ranks", "levels")


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One turn as it was written down; `kept` says that an illegal one stands by agreement."""

    turn: Turn
    kept: bool = False
    line: int = 0

    def __str__(self) -> str:
        return f"{self.turn} kept" if self.kept else str(self.turn)


@dataclass(frozen=True, slots=True)
class PositionLine:
    """A position that must stand here."""

    stacks: Stacks
    columns: int
    ranks: int
    line: int = 0

    def __str__(self) -> str:
        return f"= {self.stacks.line(self.columns, self.ranks)}"


Line = TurnLine | PositionLine


@dataclass(frozen=True, slots=True)
class Record:
    """A game as it was written down."""

    spec: GameSpec
    setup: Setup
    lines: tuple[Line, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*_header_lines(self), "", *map(str, self.lines), ""])


def parse_record(text: str | bytes, game: str = "") -> Record:
    """The record of a text; `game` must be its game, or names it; raises RecordError."""
    header, body = _split(_lines(text))
    spec, setup = _read_header(header, game)
    return Record(spec, setup, tuple(_read_body(body)))


def _lines(text: str | bytes) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without comments; raises RecordError for what is no text."""
    for number, line in enumerate(_decoded(text).split("\n"), 1):
        yield number, line.partition("#")[0].rstrip()


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        column = error.start - text.rfind(b"\n", 0, error.start)
        raise RecordError("this is no UTF-8 text", line=line, column=column) from None


def _split(
    lines: Iterable[tuple[int, str]],
) -> tuple[list[tuple[int, str]], Iterator[tuple[int, str]]]:
    """The header's `key = value` lines, and an iterator over the rest."""
    header: list[tuple[int, str]] = []
    rest = iter(lines)
    for number, line in rest:
        if not line.strip():
            continue
        key, equals, _ = line.partition("=")
        if not (equals and key.strip()):
            return header, _chain((number, line), rest)
        header.append((number, line))
    return header, rest


def _chain(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _read_header(header: list[tuple[int, str]], game: str) -> tuple[GameSpec, Setup]:
    values: dict[str, tuple[int, str]] = {}
    for number, line in header:
        key, _, value = line.partition("=")
        if key.strip() in values:
            raise RecordError(f"{key.strip()!r} stands twice in the header", line=number)
        values[key.strip()] = (number, value.strip())
    named = values.pop("game", (1, game))
    if not named[1]:
        raise RecordError("the header must begin with a line such as 'game = kewbz'", line=1)
    if game and named[1] != game:
        raise RecordError(f"this is a record of {named[1]!r}, not of {game!r}", line=named[0])
    with _told_at(named[0]):
        spec = find_game(named[1])
    setup = Setup()
    for key, (number, value) in values.items():
        with _told_at(number):
            setup = _with_entry(spec, setup, key, value)
    with _told_at(named[0]):
        spec.set_up(setup)
    return spec, setup


@contextmanager
def _told_at(line: int, column: int = 1) -> Iterator[None]:
    """Tells the line of whatever is wrong within."""
    try:
        yield
    except RecordError:
        raise
    except KiebitzError as error:
        raise RecordError(str(error), line=line, column=column) from error


def _with_entry(spec: GameSpec, setup: Setup, key: str, value: str) -> Setup:
    """The set-up with one more entry of the header."""
    board_key = key.removeprefix(f"{spec.name}.")
    if board_key == spec.size_name:
        board_key = "size"
    if board_key in _BOARD_KEYS:
        return replace(setup, board=_resized(setup.board or spec.board, board_key, value))
    if key == "players":
        return replace(setup, players=tuple(value.split()))
    if key == "first":
        return replace(setup, first=value)
    if key in spec.details:
        return replace(setup, details={**setup.details, key: value})
    option = spec.option(key.removeprefix(f"{spec.name}."))
    return replace(setup, rules={**setup.rules, option.key: _value(value, option.default)})


def _resized(board: Board, key: str, value: str) -> Board:
    """The board with another number of columns, ranks or levels."""
    if not (value.isascii() and value.isdigit() and 0 < int(value[:4]) < 100):
        raise SetupError(f"{key} = {value[:20]!r}: expected a whole number from 1 to 99")
    count = int(value)
    old = board.lattice
    columns = count if key in ("size", "columns") else old.columns
    ranks = count if key in ("size", "ranks") else old.ranks
    levels = count if key == "levels" else old.levels
    return replace(board, lattice=Lattice(columns, ranks, levels, old.pitch_mm, old.unit_mm))


def _value(text: str, default: Value) -> Value:
    """The text as a value of the option's kind; what does not fit is refused by the option."""
    if isinstance(default, bool):
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower(), text)
    if isinstance(default, int) and text.isascii() and text.isdigit() and len(text) < 7:
        return int(text)
    return text


def _read_body(body: Iterable[tuple[int, str]]) -> Iterator[Line]:
    for number, line in body:
        text = line.strip()
        if not text:
            continue
        column = line.index(text[0]) + 1
        if text[0] == "=":
            with _told_at(number, column):
                yield PositionLine(*parse_position(text[1:]), line=number)
        else:
            yield _turn_line(number, column, text)


def _turn_line(number: int, column: int, text: str) -> TurnLine:
    words = text.split()
    kept = len(words) > 1 and words[-1] == "kept"
    if kept:
        words.pop()
    if not (len(words[0]) == 1 and words[0].isascii() and words[0].isalnum()):
        raise RecordError(
            f"{words[0][:20]!r} is no player; a turn is written like 'B +d4B'",
            line=number,
            column=column,
        )
    try:
        changes, claim = parse_move(" ".join(words[1:]))
    except NotationError as error:
        wrong = next((w for w in words[1:] if repr(w[:30]) in str(error)), words[-1])
        at = text.index(wrong, len(words[0])) if wrong is not words[0] else 0
        raise RecordError(str(error), line=number, column=column + at) from error
    return TurnLine(Turn(words[0], changes, claim), kept, number)


def _header_lines(record: Record) -> Iterator[str]:
    spec, setup = record.spec, record.setup
    yield f"game = {spec.name}"
    if setup.board is not None:
        # what the header need not say is what a game without a table has
        usual, lattice = spec.set_up(replace(setup, board=None)).lattice, setup.board.lattice
        for key in _BOARD_KEYS[1:]:
            if getattr(lattice, key) != getattr(usual, key):
                yield f"{key} = {getattr(lattice, key)}"
    if setup.players:
        yield f"players = {' '.join(setup.players)}"
    if setup.first:
        yield f"first = {setup.first}"
    for key, value in setup.rules.items():
        yield f"{key} = {str(value).lower() if isinstance(value, bool) else value}"
    for key, text in setup.details.items():
        yield f"{key} = {text}"
