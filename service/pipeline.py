"""From frames to events: reader, follower and referee of one table, put together."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rules.events import Event
from rules.game import Game
from rules.looks import filled, unknown
from rules.referee import Referee
from rules.sentences import sentence
from service.colour_words import Names, names_of
from service.judging import NOBODY, named
from service.onlooker import TICK_S
from service.table_eyes import table_reader
from service.table_folder import read_table
from vision.follow import Follower
from vision.frame import Frame
from vision.reader import Reader
from vision.seen import CameraNote, Scene, Seen, Turned
from vision.virtual.scene import Kind


class Pipeline:
    """Follows one table; fed moments, it returns the contract's events."""

    def __init__(
        self, reader: Reader, game: Game[Any], language: str = "en", *, names: Names = NOBODY
    ) -> None:
        """`names` tell what to call the players in sentences."""
        self.names = names
        self.game = game
        self.language = language
        self.referee = Referee(game, language)
        self.follower = Follower(
            reader,
            expected=self.referee.expected,
            explains=self.referee.explains,
            turnable=Kind.of(game.spec).turned,
        )
        self._ticked = 0.0

    def see(self, t: float, frames: Mapping[str, Frame]) -> list[Event]:
        """The frames of one moment, and what is to be told."""
        events: list[Event] = []
        for seen in self.follower.see(t, frames):
            events += self._told(seen)
        if t - self._ticked >= TICK_S:
            self._ticked = t
            events += self._named(self.referee.tick(t))
        return events

    def _named(self, events: Iterable[Event]) -> list[Event]:
        """The events with sentences that call the players by their names."""
        return [named(event, self.names, self.language) for event in events]

    def _told(self, seen: Seen) -> list[Event]:
        if isinstance(seen, CameraNote):
            return [camera_event(seen, self.language)]
        if isinstance(seen, Turned):
            return [turned_event(seen)]
        judged = self.referee.observe(
            seen.t, seen.stacks, seen.unsure, seen.hidden, seen.doubted, seen.hand_clock
        )
        if any(event.event == "corrected" for event in judged):
            self.follower.believe(self.referee.believed)
        elif unknown(seen.stacks):  # the rules may know what nobody could see
            self.follower.believe(filled(seen.stacks, self.referee.believed))
        return [settled_event(seen), *self._named(judged)]


def table_pipeline(folder: Path, only: Iterable[str] = (), language: str = "en") -> Pipeline:
    """The pipeline of a calibrated table, of all its cameras or only some; raises KiebitzError."""
    table = read_table(folder)
    reader = table_reader(folder, only)
    players = {player.id: player.name for player in table.players}
    names = names_of(players, {**table.spec.colours, **table.scene.colours})
    return Pipeline(reader, table.spec.set_up(table.setup()), language, names=names)


def settled_event(scene: Scene) -> Event:
    """A still scene, with what it leaves open."""
    data: dict[str, Any] = {
        "stacks": scene.stacks.to_json(),
        "certainty": round(scene.certainty, 4),
    }
    if scene.unsure:
        data["unsure"] = {
            str(cell): {stack: round(chance, 4) for stack, chance in choices.items()}
            for cell, choices in sorted(scene.unsure.items())
        }
    if scene.hidden:
        data["hidden"] = [str(cell) for cell in sorted(scene.hidden)]
    return Event("settled", scene.t, data)


def camera_event(note: CameraNote, language: str) -> Event:
    """Something happened to a camera, as a sentence; English ones have its details in brackets."""
    other = note.why
    if note.state == "refused":
        settings = [name.replace(" ", "-") for name in note.why.split(" and ")]
        other = ", ".join(sentence(f"camera.{name}", language) for name in settings)
    said = sentence(f"camera.{note.state}", language, (), {"camera": note.camera, "other": other})
    if note.why and note.state not in ("swapped", "refused") and language == "en":
        said = f"{said} ({note.why})"
    return Event("camera", note.t, {"camera": note.camera, "state": note.state, "say": said})


def turned_event(turned: Turned) -> Event:
    """The board or felt was turned."""
    data = {"degrees": round(turned.degrees, 1), "quarters": turned.quarters}
    return Event("turned", turned.t, data)
