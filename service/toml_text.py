"""TOML written by people: where each key stands, and what is wrong with a line."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]  # such as ("markers", 0, "size_mm")

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_TRUTHS = {
    **dict.fromkeys(("yes", "on", "true"), "true"),
    **dict.fromkeys(("no", "off", "false"), "false"),
}
_STRING = re.compile(r'"(?:\\.|[^"\\])*"|' + r"'[^']*'")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


class NoToml(Exception):
    """A text that is no TOML: the line where it goes wrong, and what to try."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_toml(text: str) -> dict[str, Any]:
    """The values of a text; raises NoToml with the line and a hint."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        lines = text.splitlines()
        place = _PLACE.search(str(error))
        number = int(place[1]) if place else _last_line(lines)
        what = _PLACE.sub("", str(error)).replace("(at end of document)", "").strip()
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        raise NoToml(
            number, f"cannot read {line.strip()[:60]!r}: {next(_hints(line, what))}"
        ) from None


def _last_line(lines: list[str]) -> int:
    """The number of the last line that is not empty."""
    return max((n for n, line in enumerate(lines, 1) if line.strip()), default=1)


def _hints(line: str, what: str) -> Iterator[str]:
    """What to try with a line that is no TOML, the likeliest first."""
    bare = _STRING.sub('""', line.partition("#")[0]).strip()
    key, equals, value = (part.strip() for part in bare.partition("="))
    if re.search("[“”„‘’]", line):
        yield 'quotes must be straight ones, as in "blue"'
    if "overwrite" in what.lower() or "twice" in what or "declare" in what.lower():
        yield f"{key or bare!r} stands in the file twice; keep one of them"
    if bare.startswith("["):
        yield "a heading stands alone on its line, as in [board], or [[players]] for lists"
    if not equals:
        yield "expected a key and a value, as in clock = 6"
    if re.fullmatch(r"-?\d+,\d+", value):
        yield f"decimals have a point, as in {value.replace(',', '.')}"
    if re.fullmatch(r"[^\W\d][\w .-]*", value):
        yield _bare_word(key, value)
    if not value:
        yield f"the value of {key!r} is missing"
    if value.count("[") > value.count("]"):
        yield "the list is not closed; it ends with ]"
    if value.count('"') % 2:
        yield 'the text is not closed; it ends with "'
    yield what[:1].lower() + what[1:]


def _bare_word(key: str, value: str) -> str:
    """What a word without quotes should have been: true, false or a text."""
    truth = _TRUTHS.get(value.lower())
    if truth is not None:
        return f"{value!r} is written {truth}, as in {key} = {truth}"
    return f'text stands in quotes, as in {key} = "{value}"'


def key_lines(text: str) -> dict[Path, int]:
    """The line on which each heading and key of a (valid) TOML text stands."""
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    section: Path = ()
    open_brackets = 0
    closing = ""  # the three quotes that end a text over several lines
    for number, line in enumerate(text.splitlines(), 1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if open_brackets > 0:
            open_brackets += _brackets(line)
            continue
        if header := _HEADER.match(line):
            section = _parts(header[2])
            if header[1] == "[[":
                found.setdefault(section, number)
                count = counts[section] = counts.get(section, -1) + 1
                section = (*section, count)
            for end in range(1, len(section) + 1):  # [cameras.top] is a heading of `cameras`, too
                found.setdefault(section[:end], number)
        elif key := _KEY.match(line):
            path = (*section, *_parts(key[1]))
            for end in range(len(section) + 1, len(path) + 1):
                found.setdefault(path[:end], number)
            value = line[key.end() :].strip()
            closing = next((q for q in ('"""', "'''") if value.count(q) == 1), "")
            open_brackets = 0 if closing else _brackets(value)
    return found


def _parts(dotted: str) -> Path:
    """The names of a dotted key, without quotes."""
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _brackets(value: str) -> int:
    """How many brackets a piece of a value opens and does not close."""
    bare = _STRING.sub("", value).partition("#")[0]
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")
