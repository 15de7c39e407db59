"""A table as a person describes it: the game, who plays, what it looks like, which rules hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from calibration.scene import Scene
from rules.game import GameSpec, Setup, Value
from rules.registry import find_game


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits there; `details` holds what only one game asks for, such as `corner`."""

    id: str
    name: str = ""
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that `table.toml` says."""

    game: str
    scene: Scene
    first: str = ""
    players: tuple[Player, ...] = ()
    rules: Mapping[str, Value] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def spec(self) -> GameSpec:
        """The game before it is set up."""
        return find_game(self.game)

    def setup(self) -> Setup:
        """What the game needs to know; `table.spec.set_up(table.setup())` is the game itself."""
        own = {f"{key}.{p.id}": text for p in self.players for key, text in p.details.items()}
        if "colours" in self.spec.details:
            own["colours"] = " ".join(self.scene.colours)
        return Setup(
            board=self.scene.board,
            players=tuple(player.id for player in self.players),
            first=self.first,
            rules=self.rules,
            details={**self.details, **own},
        )


def is_open(spec: GameSpec) -> bool:
    """Whether the table alone says which colours there are and how high pieces may stand."""
    return "colours" in spec.details
