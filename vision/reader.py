"""The reader: from one picture a camera to the stacks on the lattice, and their certainty.

It knows the lattice, the board, the kit and the cameras, and no game by name.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rules.cells import Cell, Unit
from rules.lattice import Board
from rules.pieces import KitPiece
from rules.stacks import Stacks
from vision.blocks import all_blocks, pair_up
from vision.adapt import AdaptSettings, adapted
from vision.certainty import CellDoubt, CertaintySettings, Doubts
from vision.columns import RayTable
from vision.errors import NoPicture
from vision.evidence import Evidence, SearchSettings, State, View
from vision.likelihood import CameraEye, EyeLooks, ImageBGR, LookSettings, RayLooks
from vision.nudge import NudgeSettings, nudge
from vision.placing import Kit, Placing, PlacingSettings, pieces_in
from vision.position import Position
from vision.rays import RaySettings, sample_rays
from vision.reading import SURE, Reading
from vision.search import climb, propose, shake

MIX_COST = 8.0  # of two colours in one stack, where the game knows only stacks of one


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSettings:
    """All numbers of the reader, step by step."""

    rays: RaySettings = field(default_factory=RaySettings)
    looks: LookSettings = field(default_factory=LookSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    placing: PlacingSettings = field(default_factory=PlacingSettings)
    adapt: AdaptSettings = field(default_factory=AdaptSettings)
    nudge: NudgeSettings = field(default_factory=NudgeSettings)
    certainty: CertaintySettings = field(default_factory=CertaintySettings)


class Reader:
    """Reads positions from pictures; made once a calibration, used for every picture."""

    def __init__(
        self,
        board: Board,
        cameras: Mapping[str, CameraEye],
        kit: Sequence[KitPiece] = (),
        *,
        one_colour_stacks: bool = False,
        settings: ReaderSettings | None = None,
    ) -> None:
        """`one_colour_stacks`: the game never puts two colours into one stack; soft evidence."""
        self.board = board
        self.lattice = board.lattice
        self.cameras = dict(cameras)
        self.kit = tuple(kit)
        self.settings = settings or ReaderSettings()
        self._search_settings = self.settings.search
        if one_colour_stacks:
            self._search_settings = replace(self._search_settings, mix_cost=MIX_COST)
        self.letters = next((eye.colours.letters for eye in cameras.values()), ())
        self._kit = (
            Kit(self.kit, self.letters, self.lattice)
            if Kit.is_rigid(self.kit, self.lattice)
            else None
        )
        self._blocks = self._kit is None and all_blocks(self.kit)
        self._whole = one_colour_stacks or self._kit is not None
        self._tables: dict[str, RayTable] = {}
        self._looks: dict[str, EyeLooks] = {}
        for name, eye in cameras.items():
            rays = sample_rays(eye.camera, board, self.settings.rays)
            self._tables[name] = RayTable(rays, self.lattice)
            self._looks[name] = EyeLooks(eye, rays, board, self.settings.looks)

    def read(
        self,
        images: Mapping[str, ImageBGR],
        *,
        last: Stacks | None = None,
        candidates: Sequence[Stacks] = (),
    ) -> Reading:
        """The position in these pictures, one a camera; cameras without a picture are left out.

        `last` is the last known position, `candidates` are positions that the game could lead to:
        both are where the search begins, and what is believed of places that nobody sees.
        """
        begin = time.perf_counter()
        looks = self._look(images)
        seen = time.perf_counter()
        anchor = None if last is None else self._state(last)
        start = self._empty() if anchor is None else anchor
        position = Position(self._evidence(looks), start, anchor)
        propose(position, [self._state(stacks) for stacks in candidates])
        placing = self._search(position, thorough=last is None)
        if last is None:
            # The pieces themselves tell how they look in this light.
            position = self._adapted(position, looks)
            placing = self._search(position, placing, thorough=False)
        gains = position.columns_gain()
        found = time.perf_counter()
        doubts = Doubts(position, gains, self.settings.certainty)
        if placing is not None:
            doubts.take(placing.rivals())
        elif suspects := doubts.suspects():
            nudge(position, self.settings.nudge)
            doubts.settle(suspects)
            if self._blocks:
                pair_up(position, doubts)
        reading = self._reading(doubts.cells(), position, last)
        end = time.perf_counter()
        return Reading(
            **reading,
            ms={
                "looks": (seen - begin) * 1e3,
                "search": (found - seen) * 1e3,
                "certainty": (end - found) * 1e3,
                "total": (end - begin) * 1e3,
            },
            score=position.score,
        )

    def _look(self, images: Mapping[str, ImageBGR]) -> dict[str, RayLooks]:
        known = [name for name in self.cameras if name in images]
        if not known:
            raise NoPicture(
                f"no picture of the cameras {', '.join(self.cameras)}; "
                "give one picture of at least one of them"
            )
        return {name: self._looks[name].read(self._fitting(name, images[name])) for name in known}

    def _evidence(self, looks: Mapping[str, RayLooks]) -> Evidence:
        views = [
            View.of(self._tables[name], own, self._search_settings) for name, own in looks.items()
        ]
        return Evidence(views, self.lattice, len(self.letters), self._search_settings)

    def _search(
        self, position: Position, before: Placing | None = None, *, thorough: bool = True
    ) -> Placing | None:
        """Finds the best state; where it consists of whole pieces, returns these."""
        if self._kit is None:
            few = len(position.sights) == 1
            shake(position, climb(position), tries=(16 if few else 6) if thorough else 3)
            return None
        pieces = before.pieces() if before else pieces_in(position, self._kit)
        placing = Placing(self._kit, position, self.settings.placing, pieces)
        placing.climb()
        placing.shake(tries=8 if thorough else 2)
        return placing

    def _adapted(self, position: Position, looks: Mapping[str, RayLooks]) -> Position:
        """The same position, seen with colours that follow this picture."""
        nudge(position, self.settings.nudge)
        followed: dict[str, RayLooks] = {}
        for (name, own), sight in zip(looks.items(), position.sights, strict=True):
            colours = adapted(
                sight, own.values, self.cameras[name].colours, self.settings.adapt
            )
            followed[name] = self._looks[name].again(own, colours)
        anchor = None if position.anchor is None else position.anchor.ravel()
        return Position(self._evidence(followed), position.state[:-1], anchor)

    def _fitting(self, name: str, image: ImageBGR) -> ImageBGR:
        width, height = self.cameras[name].camera.size
        if image.shape != (height, width, 3):
            raise NoPicture(
                f"the picture of camera {name!r} is {image.shape[1]} x {image.shape[0]}, "
                f"but it was calibrated at {width} x {height}; calibrate it at this size"
            )
        return image

    def _empty(self) -> State:
        lattice = self.lattice
        return np.zeros(lattice.columns * lattice.ranks * lattice.levels, dtype=np.int8)

    def _state(self, stacks: Stacks) -> State:
        state = self._empty()
        levels, columns = self.lattice.levels, self.lattice.columns
        for cell, stack in stacks.items():
            if cell not in self.lattice:
                continue
            known = 1  # what nobody knows is taken to be like what stands on it
            for k in range(min(len(stack), levels) - 1, -1, -1):
                if stack[k] in self.letters:
                    known = self.letters.index(stack[k]) + 1
                if stack[k] != ".":
                    state[(cell.rank * columns + cell.file) * levels + k] = known
        return state

    def _reading(
        self, cells: Sequence[CellDoubt], position: Position, last: Stacks | None
    ) -> dict[str, object]:
        columns = self.lattice.columns
        stacks: dict[Cell, str] = {}
        unsure: dict[Cell, dict[str, float]] = {}
        inferred: set[Unit] = set()
        hidden: set[Cell] = set()
        log_sure = 0.0
        for column, doubt in enumerate(cells):
            cell = Cell(column % columns, column // columns)
            texts = [
                self._text(stack, cell, last, inferred if not i else None)
                for i, stack in enumerate(doubt.stacks)
            ]
            if self._whole and "?" in texts[0] and not doubt.hidden:
                texts[0] = self._completed(texts[0], position.stack(column), cell, inferred)
            if texts[0]:
                stacks[cell] = texts[0]
            if doubt.hidden:
                hidden.add(cell)
            elif doubt.chances[0] < SURE:
                unsure[cell] = _shares(texts, doubt.chances)
            else:
                log_sure += math.log(doubt.chances[0])
        return {
            "stacks": Stacks(stacks),
            "unsure": unsure,
            "inferred": frozenset(inferred),
            "hidden": frozenset(hidden),
            "certainty": math.exp(log_sure),
        }

    def _text(
        self, stack: Sequence[int], cell: Cell, last: Stacks | None, inferred: set[Unit] | None
    ) -> str:
        """The letters of a stack; units that nobody sees are as they were, or unknown."""
        before = last.get(cell, "") if last else ""
        letters = ""
        for k, colour in enumerate(stack):
            if colour > 0:
                letters += self.letters[colour - 1]
            elif k < len(before) and before[k] not in "?.":
                letters += before[k]
                if inferred is not None:
                    inferred.add(Unit(cell, k + 1))
            else:
                letters += "?"
        return letters

    def _completed(
        self, text: str, stack: Sequence[int], cell: Cell, inferred: set[Unit]
    ) -> str:
        """A stack with the letters that units out of sight must have, being parts of pieces."""
        letters = ""
        for k, letter in enumerate(text):
            if letter == "?" and stack[k] > 0:
                letter = self.letters[stack[k] - 1]
                inferred.add(Unit(cell, k + 1))
            letters += letter
        return letters


def _shares(texts: Sequence[str], chances: Sequence[float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for text, chance in zip(texts, chances, strict=True):
        total[text] = total.get(text, 0.0) + chance
    return {text: chance for text, chance in total.items() if chance >= 0.005}
