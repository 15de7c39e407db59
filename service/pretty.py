"""Events for people at a terminal: the board from above, the score, and what went wrong."""

import sys
from collections.abc import Mapping
from typing import Any

from rules.cells import Cell
from rules.events import Event
from rules.game import Game
from rules.stacks import Stacks

_COLOURS = {  # of the terminal, by the word that a table uses for its colour
    "blue": "94",
    "yellow": "93",
    "green": "92",
    "orange": "33",
    "red": "91",
    "light": "97",
    "dark": "90",
    "neutral": "37",
}
_WORDS = {
    "en": ("illegal", "owed", "score", "legal"),
    "de": ("regelwidrig", "offen", "Stand", "gültig"),
    "fr": ("illégal", "dû", "score", "valable"),
    "es": ("ilegal", "pendiente", "puntos", "válida"),
    "nl": ("ongeldig", "open", "stand", "geldig"),
}


class Pretty:
    """Prints what a player at the terminal wants to know."""

    def __init__(
        self, game: Game[Any], language: str = "en", *, coloured: bool | None = None
    ) -> None:
        self._game = game
        self._illegal, self._owed, self._score, self._legal = _WORDS[language]
        self._coloured = sys.stdout.isatty() if coloured is None else coloured

    def show(self, event: Event) -> None:
        """Print one event; a scene that only stands still is not worth a line."""
        text = self.text(event)
        if text:
            sys.stdout.write(f"{text}\n")

    def text(self, event: Event) -> str:
        """An event as lines of text, empty where it tells people nothing."""
        data, clock = event.data, f"{int(event.t) // 60:3}:{event.t % 60:04.1f}"
        match event.event:
            case "settled":
                return ""
            case "turn":
                return self._turn(clock, data)
            case "owed":
                cells = ", ".join(f"{n} x {cell}" for cell, n in data["cells"].items())
                return f"{clock}  {self._owed}: {data['player']} {data['what']} {cells}"
            case "over":
                return f"{clock}  {data['say']}\n        {self._points(data['score'])}"
            case "camera" | "ask":
                return f"{clock}  {data['say']}"
            case _:
                facts = " ".join(f"{v}" for v in data.values())
                return f"{clock}  {event.event} {facts}".rstrip()

    def _turn(self, clock: str, data: Mapping[str, Any]) -> str:
        head = f"{clock}  {data['n']}. {data['player']} {data['move']}"
        if data["final"] and data["legal"]:
            return ""
        if data["legal"]:
            verdict = self._paint(self._legal, "92")
        else:
            verdict = self._paint(self._illegal, "91")
        lines = [f"{head}  {verdict}"]
        lines += [f"        {self._paint('!', '91')} {broken['say']}" for broken in data["breaks"]]
        lines += [*self._board(Stacks.of(data["stacks"])), f"        {self._points(data['score'])}"]
        return "\n".join(lines)

    def _points(self, score: Mapping[str, int]) -> str:
        return f"{self._score}: " + "  ".join(f"{who} {points}" for who, points in score.items())

    def _board(self, stacks: Stacks) -> list[str]:
        """The board from above: each stack by its letters, bottom to top."""
        lattice = self._game.lattice
        wide = max([2, *(len(stack) for stack in stacks.values())]) + 1
        lines = []
        for rank in range(lattice.ranks - 1, -1, -1):
            row = ""
            for file in range(lattice.columns):
                stack = stacks.get(Cell(file, rank), "")
                row += "".join(map(self._letter, stack)) or "·"
                row += " " * (wide - max(1, len(stack)))
            lines.append(f"     {rank + 1:2}  {row.rstrip()}")
        files = "".join(f"{chr(97 + f):<{wide}}" for f in range(lattice.columns))
        return [*lines, f"         {files.rstrip()}"]

    def _letter(self, letter: str) -> str:
        word = self._game.spec.colours.get(letter, "")
        return self._paint(letter, _COLOURS.get(word, "37"))

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured else text
