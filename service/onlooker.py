"""Between the pictures and a feed: scenes are told, and what the game knows is asked back."""

from collections.abc import Mapping

from rules.cells import Cell
from rules.looks import filled, unknown
from rules.stacks import Stacks
from service.follower import Feed, Seen, Unsure
from vision.follow import Follower
from vision.frame import Frame
from vision.reader import Reader
from vision.seen import CameraNote, Scene

TICK_S = 0.2  # how often the game is told that time has passed


class Onlooker:
    """Follows one table for a feed exactly as `service.pipeline` does for a referee."""

    def __init__(self, reader: Reader, feed: Feed, *, turnable: bool = False) -> None:
        self._feed = feed
        self._follower = Follower(
            reader, expected=feed.expected, explains=feed.explains, turnable=turnable
        )
        self._ticked = 0.0

    def believe(self, stacks: Stacks) -> None:
        """What stands there by what the players say."""
        self._follower.believe(stacks)

    def see(self, t: float, frames: Mapping[str, Frame]) -> None:
        """The frames of one moment; the feed hears what comes of them."""
        for seen in self._follower.see(t, frames):
            if isinstance(seen, Scene):
                self._observed(seen)
            elif isinstance(seen, CameraNote):
                self._feed.camera(seen.camera, seen.state, seen.why)
            else:
                self._feed.turned(seen.degrees, seen.quarters)
        if t - self._ticked >= TICK_S:
            self._ticked = t
            self._feed.passed()

    def _observed(self, scene: Scene) -> None:
        hidden = tuple(sorted(map(str, scene.hidden)))
        told = Seen(
            scene.stacks,
            _odds(scene.unsure),
            hidden,
            scene.certainty,
            _odds(scene.doubted),
            scene.hand_clock,
        )
        if self._feed.observed(told):
            self._follower.believe(self._feed.believed())
        elif unknown(scene.stacks):  # the rules may know what nobody could see
            self._follower.believe(filled(scene.stacks, self._feed.believed()))


def _odds(choices: Mapping[Cell, Mapping[str, float]]) -> Unsure:
    return {str(cell): dict(odds) for cell, odds in choices.items()}
