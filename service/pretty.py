"""Events for people at a terminal: the board from above, the score, and what went wrong."""

import sys
from collections.abc import Mapping
from typing import Any

from rules.cells import Cell
from rules.events import Event
from rules.game import Game
from rules.sentences import sentence
from rules.stacks import Stacks
from service.colour_words import Names, names_of

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
    "en": ("illegal", "still to do", "still allowed", "score", "legal"),
    "de": ("regelwidrig", "noch zu tun", "noch erlaubt", "Stand", "gültig"),
    "fr": ("illégal", "reste à faire", "encore permis", "score", "valable"),
    "es": ("ilegal", "falta por hacer", "aún permitido", "puntos", "válida"),
    "nl": ("ongeldig", "nog te doen", "nog toegestaan", "stand", "geldig"),
}

_SAID = {  # events that bring no sentence along
    "en": {
        "taken-back": "turn {n} is taken back",
        "kept": "turn {n} may stand",
        "corrected": "misread before, corrected now: {cells}",
        "answered": "answered: {cells}",
        "turned": "the board was turned by {degrees} degrees",
        "setup": "waiting for the start position",
        "play": "the game is on",
        "paused": "the game is paused",
        "over": "the game is over",
    },
    "de": {
        "taken-back": "Zug {n} ist zurückgenommen",
        "kept": "Zug {n} darf stehen bleiben",
        "corrected": "zuvor falsch gelesen, jetzt berichtigt: {cells}",
        "answered": "beantwortet: {cells}",
        "turned": "das Brett wurde um {degrees} Grad gedreht",
        "setup": "es fehlt noch die Anfangsstellung",
        "play": "das Spiel läuft",
        "paused": "das Spiel ruht",
        "over": "das Spiel ist aus",
    },
    "fr": {
        "taken-back": "le coup {n} est repris",
        "kept": "le coup {n} est maintenu",
        "corrected": "mal lu auparavant, corrigé à présent : {cells}",
        "answered": "répondu : {cells}",
        "turned": "le plateau a été tourné de {degrees} degrés",
        "setup": "en attente de la position de départ",
        "play": "la partie est en cours",
        "paused": "la partie est en pause",
        "over": "la partie est finie",
    },
    "es": {
        "taken-back": "la jugada {n} se ha deshecho",
        "kept": "la jugada {n} se deja estar",
        "corrected": "mal leído antes, corregido ahora: {cells}",
        "answered": "respondido: {cells}",
        "turned": "el tablero se ha girado {degrees} grados",
        "setup": "se espera la posición inicial",
        "play": "la partida está en marcha",
        "paused": "la partida está en pausa",
        "over": "la partida ha terminado",
    },
    "nl": {
        "taken-back": "zet {n} is teruggenomen",
        "kept": "zet {n} mag blijven staan",
        "corrected": "eerder verkeerd gelezen, nu verbeterd: {cells}",
        "answered": "beantwoord: {cells}",
        "turned": "het bord is {degrees} graden gedraaid",
        "setup": "er wordt gewacht op de beginstelling",
        "play": "het spel loopt",
        "paused": "het spel ligt stil",
        "over": "het spel is uit",
    },
}


class Pretty:
    """Prints what a player at the terminal wants to know."""

    def __init__(
        self,
        game: Game[Any],
        language: str = "en",
        *,
        names: Names | None = None,
        coloured: bool | None = None,
    ) -> None:
        """`names` tell what to call the players; without any they are called by their colours."""
        unnamed = dict.fromkeys(game.players, "")
        self._names = (names or names_of(unnamed, game.spec.colours))[language]
        self._language = language
        self._shown: tuple[int, str] | None = None  # the turn printed last
        self._at_end: dict[int, Mapping[str, int]] = {}  # the score behind each finished turn
        self._game = game
        words = _WORDS[language]
        self._illegal, self._owed, self._allowed, self._score, self._legal = words
        self._said = _SAID[language]
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
                # A bonus may be left alone, so nobody has to do it.
                head = self._allowed if data["what"] == "bonus" else self._owed
                return f"{clock}  {head} – {'; '.join(self._debts(data))}"
            case "kept":
                said = f"{clock}  {self._said['kept'].format(**data)}"
                return said + self._below(self._at_end.get(data["n"]))
            case "over" | "camera" | "ask":
                return f"{clock}  {data['say']}{self._below(data.get('score'))}"
            case _:
                said = self._said[data.get("phase", event.event)]
                cells = ", ".join(data.get("cells", ()))
                return f"{clock}  {said.format(**{**data, 'cells': cells})}"

    def _turn(self, clock: str, data: Mapping[str, Any]) -> str:
        if data["final"]:
            self._at_end[data["n"]] = data["score"]
            # Everybody has read it when it was made; that it may stand is told by what follows.
            if data["legal"] or self._shown == (data["n"], data["move"]):
                return ""
        self._shown = data["n"], data["move"]
        head = f"{clock}  {data['n']}. {self._name(data['player'])} {data['move']}"
        if data["legal"]:
            verdict = self._paint(self._legal, "92")
        else:
            verdict = self._paint(self._illegal, "91")
        lines = [f"{head}  {verdict}"]
        lines += [f"        {self._paint('!', '91')} {broken['say']}" for broken in data["breaks"]]
        lines += [*self._board(Stacks.of(data["stacks"])), f"        {self._points(data['score'])}"]
        return "\n".join(lines)

    def _debts(self, data: Mapping[str, Any]) -> list[str]:
        """What is owed, in the page's words: a sentence a stack, else one for all cells."""
        cells, what = data["cells"], data["what"]
        facts = {"name": self._name(data["player"])}
        if what != "stack":
            code = f"owed.{what}-cells" if cells else f"owed.{what}"
            return [sentence(code, self._language, [Cell.parse(cell) for cell in cells], facts)]
        return [
            sentence(
                "owed.stack-one" if n == 1 else "owed.stack-many",
                self._language,
                facts={**facts, "cell": cell, "n": n},
            )
            for cell, n in cells.items()
        ]

    def _below(self, score: Mapping[str, int] | None) -> str:
        """The score on a line of its own, where there is one to tell."""
        return "" if score is None else f"\n        {self._points(score)}"

    def _name(self, player: str) -> str:
        return self._names.get(player, player)

    def _points(self, score: Mapping[str, int]) -> str:
        counted = (f"{self._name(who)} {points}" for who, points in score.items())
        return f"{self._score}: " + "  ".join(counted)

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
