"""The reader: from one picture a camera to the stacks on the lattice, and their certainty.

It knows the lattice, the board, the kit and the cameras, and no game by name.
"""

import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Floats
from calibration.colour_space import Floats32
from rules.blocks import all_blocks
from rules.cells import Cell
from rules.lattice import Board
from rules.pieces import KitPiece
from rules.stacks import Stacks
from vision.adapt import AdaptSettings, adapted, shadows
from vision.blocks import doubt_alone, pair_up
from vision.certainty import CellDoubt, CertaintySettings, Doubts, Rivals, strange_sights, trust
from vision.close_look import CloseLook, CloseSettings, CloseView
from vision.columns import RayTable
from vision.contradicting import contradictions
from vision.covering import CoverSettings, find_cover
from vision.errors import NoPicture
from vision.evidence import Evidence, SearchSettings, State, View
from vision.exposure import change_of, common_gains, in_light
from vision.hull import hull
from vision.lamplight import Lamplight, LampSettings
from vision.likelihood import CameraEye, EyeLooks, Followed, ImageBGR, LookSettings, RayLooks
from vision.nudge import NudgeSettings, nudge
from vision.placing import Kit, Placing, PlacingSettings, pieces_in
from vision.position import Position, Sight, Stack
from vision.rays import RaySettings, sample_rays
from vision.reading import SURE, Reading
from vision.search import climb, exchange, propose, shake, slide
from vision.second_look import Answer, SecondLookSettings, look_again
from vision.telling import Telling
from vision.towers import higher
from vision.votes import FaceVotes, votes_on

CHANGED = 6  # of 255: smaller differences of a pixel are noise
MUCH = 0.5  # with a larger share of changed pixels everything is read anew
MOST_EXPOSURE = 0.5  # by which a camera may adjust itself meanwhile, in logarithms of light
HARDLY = 0.2  # regret of a ray in the worst camera, as on crowded boards: it may be far off
MOST_GAIN = 50.0  # of another position as a whole, in log-odds, that is told
UNRULY = 18.0  # what rivals gain that break a rule of the game once less than what is told
UMBRA = 0.1  # how often large pieces lie in a shadow as a whole
MIX_COST = 12.0  # of two colours in one stack, where the game knows only stacks of one


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
    cover: CoverSettings = field(default_factory=CoverSettings)
    close: CloseSettings = field(default_factory=CloseSettings)
    lamps: LampSettings = field(default_factory=LampSettings)
    second: SecondLookSettings = field(default_factory=SecondLookSettings)


class _Again(NamedTuple):
    """An answer that was taken at a second look, and the columns that it decided."""

    answer: Answer
    placing: Placing | None
    decided: frozenset[int]


@dataclass(slots=True, eq=False)
class _Memory:
    """The last reading, from which the next one begins where little has changed."""

    pixels: dict[str, ImageBGR]  # (N, 3) as they were taken into account, in one light
    changes: dict[str, Floats32]
    followed: dict[str, Followed]  # with which the position was read
    position: Position
    cells: list[CellDoubt]


class Reader:
    """Reads positions from pictures; made once a calibration, used for every picture."""

    def __init__(
        self,
        board: Board,
        cameras: Mapping[str, CameraEye],
        kit: Sequence[KitPiece] = (),
        *,
        one_colour_stacks: bool = False,
        heights_apart: bool = False,
        settings: ReaderSettings | None = None,
    ) -> None:
        """What the game's rules say of positions is soft evidence: they may be broken.

        `one_colour_stacks`: no stack has two colours; `heights_apart`: no two pieces of one height
        stand side by side.
        """
        self.board = board
        self.lattice = board.lattice
        self.cameras = dict(cameras)
        self.kit = tuple(kit)
        self.one_colour_stacks = one_colour_stacks
        self.heights_apart = heights_apart
        self.settings = settings or ReaderSettings()
        self._search_settings = self.settings.search
        self._look_settings = self.settings.looks
        if one_colour_stacks:
            self._search_settings = replace(self._search_settings, mix_cost=MIX_COST)
        self.letters = next((eye.colours.letters for eye in cameras.values()), ())
        self._kit = (
            Kit(self.kit, self.letters, self.lattice)
            if Kit.is_rigid(self.kit, self.lattice)
            else None
        )
        self._blocks = self._kit is None and all_blocks(self.kit)
        if self._kit is not None:
            # Large pieces that may lie in many ways explain any light that is free to change; how
            # deep their shadows are is known.
            self._search_settings = replace(self._search_settings, alike=math.inf)
            self._look_settings = replace(self._look_settings, umbra=UMBRA)
        self._placing = self.settings.placing
        if heights_apart:
            self._placing = replace(self._placing, unruly=UNRULY)
        self._certainty = self.settings.certainty
        if self._blocks or self._kit is not None:
            self._certainty = replace(
                self._certainty, sharpness=self._certainty.sharpness_of_pieces
            )
        whole = one_colour_stacks or self._kit is not None
        self._telling = Telling(self.lattice, self.letters, whole=whole)
        self._tables: dict[str, RayTable] = {}
        self._looks: dict[str, EyeLooks] = {}
        self._votes: dict[str, FaceVotes] = {}
        self._learned: dict[str, Followed] = {}
        self._memory: _Memory | None = None
        self._told: Position | None = None  # what a patient reading ended with
        for name, eye in cameras.items():
            rays = sample_rays(eye.camera, board, self.settings.rays)
            self._tables[name] = RayTable(rays, self.lattice)
            self._looks[name] = EyeLooks(eye, rays, board, self._look_settings)
            self._votes[name] = FaceVotes.of(
                eye.colours, self._looks[name].dimming, table_known=eye.empty is not None
            )

    def read(
        self,
        images: Mapping[str, ImageBGR],
        *,
        last: Stacks | None = None,
        candidates: Sequence[Stacks] = (),
        patient: bool = False,
    ) -> Reading:
        """The position in these pictures, one a camera; cameras without a picture are left out.

        `last` is the last known position, `candidates` are positions that the game could lead to:
        both are where the search begins, and what is believed of places that nobody sees.
        `patient`: slivers are looked at pixel by pixel, which takes a second or two; what is
        likeliest of them is told, with its doubt.
        """
        begin = time.perf_counter()
        self._told = None
        states = [self._state(stacks) for stacks in candidates]
        if last is not None and self._kit is None:
            reading = self._read_again(images, last, states)
            if reading is not None:
                return replace(reading, ms=_since(begin))
        reading = self._read_anew(images, last, states, patient=patient)
        if reading.strange and len(self._known(images)) > 1:
            reading = self._read_agreeing(images, reading, last, states, patient=patient)
        return replace(reading, ms=_since(begin))

    def weigh(self, others: Sequence[Stacks]) -> list[float]:
        """The odds of other positions, each as a whole, against the one that was read last."""
        memory = self._memory
        if memory is None:
            return [0.0] * len(others)
        position = memory.position
        trusted = trust(position, self._certainty)
        found = []
        for stacks in others:
            changes = position.differing(self._state(stacks))
            gain = position.gain(changes) * self._certainty.sharpness if changes else 0.0
            worth = float(np.mean(trusted[list(changes)])) if changes else 1.0
            found.append(math.exp(min(gain * worth, MOST_GAIN)))
        return found

    def contradicted(self) -> dict[Cell, str]:
        """The cells on which a camera surely sees something else than a patient reading told.

        And what stands there by that camera alone. Asked for afterwards, as it takes a moment.
        """
        if self._told is None:
            return {}
        found = contradictions(self._told)
        seen = {
            Cell(c % self.lattice.columns, c // self.lattice.columns): s for c, s in found.items()
        }
        return {cell: "".join(self.letters[k - 1] for k in stack) for cell, stack in seen.items()}

    def _read_agreeing(
        self,
        images: Mapping[str, ImageBGR],
        together: Reading,
        last: Stacks | None,
        states: Sequence[State],
        *,
        patient: bool,
    ) -> Reading:
        """What the cameras that agree with each other tell, where one does not fit to the rest.

        Where that cannot be told, nothing is certain.
        """
        names = self._known(images)
        kept = {"": (self._memory, self._learned)}  # what each try leaves behind
        good: dict[str, Reading] = {}
        for gone in names:
            self._learned = dict(kept[""][1])
            rest = {n: images[n] for n in names if n != gone}
            reading = self._read_anew(rest, last, states, patient=patient)
            kept[gone] = (self._memory, self._learned)
            if not reading.strange:
                good[gone] = reading
        gone = min(good, key=lambda name: good[name].misfit, default="")
        self._memory, self._learned = kept[gone]
        if not good:
            return together
        if len(names) == 2 and len(good) == 2:
            # Each camera alone sees a position: nobody knows which of them is off.
            rest = {n: images[n] for n in names if n != gone}
            doubtful = self._read_anew(rest, last, states, doubted=True, patient=patient)
            return replace(doubtful, strange=frozenset(names))
        return replace(good[gone], strange=frozenset({gone}))

    def _read_anew(
        self,
        images: Mapping[str, ImageBGR],
        last: Stacks | None,
        states: Sequence[State],
        *,
        doubted: bool = False,
        patient: bool = False,
    ) -> Reading:
        """Reads all pixels; `doubted`: there is reason to trust nothing of it."""
        looks = self._look(images, learned=last is not None)
        doubted = doubted or all(self.cameras[name].guessed for name in looks)
        anchor = None if last is None else self._state(last)
        start = self._empty() if anchor is None else anchor
        position = Position(self._evidence(looks), start, anchor)
        propose(position, states)
        placing = self._search(position, thorough=last is None)
        if last is None:
            # The pieces themselves tell how they look in this light.
            for _ in range(self.settings.adapt.rounds):
                position, looks, moved = self._adapted(position, looks)
                placing = self._search(position, placing, thorough=False)
                if moved < self.settings.adapt.again_from:
                    break
        # One camera alone cannot see how far away a stack stands but by its height.
        alone = next(iter(looks)) if placing is None and len(looks) == 1 else None
        slid = slide(position, self.cameras[alone].camera.position_mm) if alone else {}
        certainty = replace(self._certainty, sliver=0.0) if patient else self._certainty
        doubts = Doubts(position, position.columns_gain(), certainty, doubted=doubted)
        if placing is not None:
            doubts.take(placing.rivals(unseen=patient and last is None))
        told = self._settled(position, doubts)
        doubts.add(slid)
        decided: frozenset[int] = frozenset()
        # How high loose units stand is seen by two cameras; one of them would take shadows for it.
        if patient and last is None and (placing is not None or len(looks) > 1):
            again = self._looked_again(told, doubts, looks, placing)
            if again is not None:
                told, position, looks = (
                    again.answer.position,
                    again.answer.unmoved,
                    again.answer.looks,
                )
                placing, decided = again.placing, again.decided
        followed = None
        if patient and placing is None:
            followed = self._look_closely(told, doubts, images, looks, decided)
        if self._blocks:
            doubt_alone(told, doubts)
        names = list(looks)
        pixels = {name: self._looks[name].pixels(images[name])[1] for name in names}
        changes = {name: own.change for name, own in looks.items()}
        read_with = {name: own.followed for name, own in looks.items()}
        pieces = () if placing is None else placing.units()
        doubts.hear(self._heard(told, pixels, changes, read_with, looks, pieces))
        strange = frozenset(names[number] for number in strange_sights(told, self._certainty))
        cells = doubts.cells()
        self._told = told if patient else None
        self._remember(pixels, looks, position, told, cells, followed)
        reading = self._uncovered(self._telling.reading(cells, told, last), told, names, last)
        return replace(
            reading,
            score=told.score,
            strange=strange,
            misfit=float(np.mean([sight.misfit()[0] for sight in told.sights])),
        )

    def _known(self, images: Mapping[str, ImageBGR]) -> list[str]:
        return [name for name in self.cameras if name in images]

    def _uncovered(
        self, reading: Reading, position: Position, names: list[str], last: Stacks | None
    ) -> Reading:
        """The reading without the cells that a hand covers: they stay as they were last known."""
        cover = find_cover(position, self.settings.cover)
        if not cover:
            return reading
        cells = frozenset[Cell]().union(*(found.cells for found in cover.values()))
        stacks = dict(reading.stacks)
        for cell in cells:
            stacks[cell] = last.get(cell, "") if last is not None else stacks.get(cell, "")
        return replace(
            reading,
            stacks=Stacks(stacks),
            unsure={c: choices for c, choices in reading.unsure.items() if c not in cells},
            inferred=frozenset(u for u in reading.inferred if u.cell not in cells),
            hidden=reading.hidden | cells,
            covered={names[number]: found for number, found in cover.items()},
        )

    def _settled(self, position: Position, doubts: Doubts) -> Position:
        """The position after doubtful columns were tried exactly, on a copy."""
        suspects = doubts.suspects() if self._kit is None else []
        if not suspects:
            return position
        told = position.copy()
        doubts.look_at(told)
        nudge(told, self.settings.nudge)
        other = None
        if position.anchor is None:
            told, other = self._upright(told, doubts)
        together = list(told.differing(other.state[:-1])) if other is not None else []
        doubts.settle(suspects + [column for column in together if column not in suspects])
        if other is not None:
            # One by one these stacks seem worse than they are all together.
            doubts.add(_instead(other, together, other.score - told.score))
        doubts.add(exchange(told, doubts.likeliest(), doubts.least_gain))
        doubts.look_at(told)
        if self._blocks:
            pair_up(told, doubts)
        return told

    def _looked_again(
        self,
        told: Position,
        doubts: Doubts,
        looks: dict[str, RayLooks],
        placing: Placing | None,
    ) -> "_Again | None":
        """What is told instead, once the likeliest answers of other heights are compared as wholes.

        None where nothing is better.
        """
        cfg = self.settings.second
        now, first = self._answer(told, looks), looks
        lamps = now.lamps.towards  # no answer gains by lamps that were looked for more closely
        before: dict[int, Stack] = {}  # what was told on columns where something else is now
        for _ in range(cfg.taken):
            options: list[tuple[Mapping[int, Stack], float]] = (
                [({column: stack}, gain) for column, stack, gain in doubts.options()]
                if placing is None
                else list(placing.instead())
            )
            others = look_again(now, options, lambda s: self._in_its_light(s, first, lamps), cfg)
            if not others or others[0][0] < cfg.enough:
                for ahead, other in others:  # as likely as it is as a whole, but not likelier
                    changes = told.differing(other.state)
                    doubts.add(_instead(other.position, changes, min(ahead, 0.0)))
                break
            now = others[0][1]
            changes = told.differing(now.state)
            before = {column: told.stack(column) for column in changes} | before
            told = now.position
            doubts.look_at(told)
            if placing is None:
                # What lost much in another light may be near in this one.
                for column, stack, _ in doubts.options():
                    if column in changes:
                        gain = min(told.gain({column: stack}), 0.0)
                        doubts.add({column: {tuple(stack.tolist()): gain}})
            else:
                placing = placing.moved_to(told)
                doubts.take(placing.rivals(unseen=True))
        for column, stack in before.items():
            # What shadows decide against everything else is worth a question.
            doubts.told_again(column, tuple(stack.tolist()), -cfg.asked)
        return _Again(now, placing, frozenset(before)) if before else None

    def _in_its_light(
        self, state: State, looks: Mapping[str, RayLooks], towards: Floats | None = None
    ) -> Answer:
        """An answer with colours, places and lamps as the pictures show them if it is true.

        Lamps are looked for `towards` where another answer has found them.
        """
        position, own = Position(self._evidence(looks), state), dict(looks)
        position, own, _ = self._adapted(position, own)
        return self._answer(position, own, towards)

    def _answer(
        self, position: Position, looks: dict[str, RayLooks], towards: Floats | None = None
    ) -> Answer:
        """A position with its pieces where they fit, and the lamps that light it."""
        unmoved = position
        if not position.moved_mm:
            position = position.copy()
            nudge(position, self.settings.nudge)
        eyes = [self.cameras[name].camera for name in looks]
        usual = self._look_settings.shades()
        lamps = Lamplight(
            self.board, eyes, position, list(looks.values()), usual, self.settings.lamps, towards
        )
        return Answer(position, unmoved, looks, lamps, self.settings.second.lamps)

    def _look_closely(
        self,
        told: Position,
        doubts: Doubts,
        images: Mapping[str, ImageBGR],
        looks: Mapping[str, RayLooks],
        decided: Collection[int],
    ) -> dict[str, Followed] | None:
        """Lets all pixels around the most doubtful places decide between stacks.

        But not where the answer as a whole has `decided`. Returns the colours as the picture shows
        them, where they were asked for and still hold.
        """
        cfg = self.settings.close
        if not told.moved_mm or any(self.cameras[name].empty is None for name in looks):
            return None
        followed: dict[str, Followed] | None = None
        close: CloseLook | None = None
        asked = 0
        for column, stack, gain in doubts.options():
            if gain < -cfg.reach or asked >= cfg.asked:
                break
            if column in decided or not np.any(stack) or not len(told.stack(column)):
                continue  # a piece where none stands explains any shadow in the dark between others
            by_rays = told.gain({column: stack})
            other = told.with_changes({column: stack})
            if by_rays < gain - 1.0 or not told.differing(other):
                continue  # likely only together with what stands beside it
            if close is None:
                followed = self._all_followed(told, looks)
                close = self._close_look(told, images, looks, followed)
            dearer = told.dearer({column: stack})
            seen = close.gain(told.state[:-1], other, by_rays + dearer)
            asked += 1
            if seen is None:
                continue
            closer = seen - dearer
            taken = tuple(int(c) for c in stack)
            doubts.told_again(column, taken, closer)
            if closer > cfg.enough:
                now = tuple(int(c) for c in told.stack(column))
                told.change({column: stack})
                followed = None
                doubts.moved({column: stack})
                doubts.told_again(column, now, -closer)
        doubts.look_at(told)
        return followed

    def _close_look(
        self,
        told: Position,
        images: Mapping[str, ImageBGR],
        looks: Mapping[str, RayLooks],
        followed: Mapping[str, Followed],
    ) -> CloseLook:
        """A closer look at all pictures, with pieces where they were found."""
        views = []
        for (name, own), moved in zip(looks.items(), told.moved_mm, strict=True):
            eye = self.cameras[name]
            if eye.empty is not None:
                taken = images[name], eye.empty, followed[name], own.change, moved
                views.append(CloseView(eye.camera, *taken))
        return CloseLook(self.lattice, views, self.settings.close)

    def _heard(
        self,
        position: Position,
        pixels: Mapping[str, ImageBGR],
        changes: Mapping[str, Floats32],
        followed: Mapping[str, Followed],
        looks: Mapping[str, RayLooks] | None = None,
        pieces: Sequence[NDArray[np.int64]] = (),
    ) -> NDArray[np.float64]:
        """What whole faces tell of colours, where single pixels cannot be trusted."""
        return votes_on(
            position.sights,
            list(pixels.values()),
            list(changes.values()),
            list(followed.values()),
            [self._votes[name] for name in pixels],
            None if looks is None else [own.nothing_off for own in looks.values()],
            pieces,
        )

    def _upright(self, told: Position, doubts: Doubts) -> tuple[Position, Position | None]:
        """The position after its towers were tried higher, and the one that is worse, if any."""
        other = higher(told, self.settings.nudge)
        if other is None:
            return told, None
        best, worse = (other, told) if other.score > told.score else (told, other)
        doubts.look_at(best)
        lost = worse.score - best.score
        doubts.add(_instead(worse, best.differing(worse.state[:-1]), lost))
        return best, worse

    def _remember(
        self,
        pixels: dict[str, ImageBGR],
        looks: Mapping[str, RayLooks],
        position: Position,
        told: Position,
        cells: list[CellDoubt],
        now_followed: Mapping[str, Followed] | None,
    ) -> None:
        """Keeps what the next reading can begin from; colours follow what was read.

        `now_followed` are the colours as this picture shows them, if that is known already.
        """
        position.change(position.differing(told.state[:-1]))
        changes = {name: own.change for name, own in looks.items()}
        sure = sum(cell.chances[0] > SURE for cell in cells) > 0.9 * len(cells)
        for name, now in (now_followed or self._all_followed(told, looks)).items():
            before = self._learned.get(name, Followed(self.cameras[name].colours))
            # How light changes upwards is found without a word on which colour stands where.
            self._learned[name] = now if sure else replace(before, rising=now.rising)
        followed = {name: own.followed for name, own in looks.items()}
        self._memory = _Memory(pixels, changes, followed, position, cells)

    def _read_again(
        self, images: Mapping[str, ImageBGR], last: Stacks, states: Sequence[State]
    ) -> Reading | None:
        """Reads only what changed since the last reading; None where that is too much."""
        memory = self._memory
        if memory is None or set(memory.pixels) != set(images) & set(self.cameras):
            return None
        state = self._state(last)
        position = memory.position
        if not np.array_equal(state, position.state[:-1]):
            return None
        changed: list[NDArray[np.int64]] = []
        columns: set[int] = set()
        taken: list[tuple[ImageBGR, ImageBGR, Floats32]] = []
        shown: dict[str, ImageBGR] = {}  # and by how much light changed since the empty table
        changes: dict[str, Floats32] = {}
        for name, before in memory.pixels.items():
            smooth, pixels = self._looks[name].pixels(self._fitting(name, images[name]))
            off = np.zeros(len(pixels), dtype=bool)
            lit = common_gains(before, pixels)
            if len(pixels):  # a camera may look past the board
                off = cv2.absdiff(pixels, in_light(before, lit)).max(axis=1) > CHANGED
            if off.sum() > MUCH * len(off) or np.abs(np.log(lit)).max() > MOST_EXPOSURE:
                return None
            changed.append(np.flatnonzero(off))
            taken.append((smooth, pixels, lit))
            shown[name], changes[name] = pixels, memory.changes[name] + change_of(lit)
        for sight, (name, before), some, (smooth, pixels, lit) in zip(
            position.sights, memory.pixels.items(), changed, taken, strict=True
        ):
            if not len(some):
                continue
            before[some] = in_light(pixels[some], np.float32(1) / lit)
            own = changes[name], memory.followed[name]
            now = self._looks[name].read_some(smooth, some, *own)
            sight.view.renew(some, now)
            columns |= sight.table.columns_of(some)
        position.renew(changed, state)
        propose(position, states)
        gains = climb(position)
        columns |= set(position.differing(state))
        guessed = all(self.cameras[name].guessed for name in memory.pixels)
        doubts = Doubts(position, gains, self._certainty, columns, doubted=guessed)
        told = self._settled(position, doubts)
        if self._blocks:
            doubt_alone(told, doubts)
        # What is clipped is so in this picture, whatever it would be in the light of before.
        doubts.hear(self._heard(told, shown, changes, memory.followed))
        columns |= set(told.differing(state))
        for column in columns:
            memory.cells[column] = doubts.cell(column)
        position.change(position.differing(told.state[:-1]))
        reading = self._telling.reading(memory.cells, told, last)
        reading = self._uncovered(reading, told, list(memory.pixels), last)
        return replace(reading, score=told.score)

    def _look(
        self, images: Mapping[str, ImageBGR], *, learned: bool = False
    ) -> dict[str, RayLooks]:
        known = self._known(images)
        if not known:
            raise NoPicture(
                f"no picture of the cameras {', '.join(self.cameras)}; "
                "give one picture of at least one of them"
            )
        found: dict[str, RayLooks] = {}
        for name in known:
            followed = self._learned.get(name) if learned else None
            found[name] = self._looks[name].read(self._fitting(name, images[name]), followed)
        return found

    def _evidence(self, looks: Mapping[str, RayLooks]) -> Evidence:
        views = [
            View.of(self._tables[name], own, self._search_settings, self._look_settings.shades())
            for name, own in looks.items()
        ]
        return Evidence(views, self.lattice, len(self.letters), self._search_settings)

    def _search(
        self, position: Position, before: Placing | None = None, *, thorough: bool = True
    ) -> Placing | None:
        """Finds the best state; where it consists of whole pieces, returns these."""
        if self._kit is None:
            few = len(position.sights) == 1
            tries = (16 if few else 8) if thorough else 6
            shake(position, climb(position), tries=tries)
            if thorough and max(sight.misfit()[0] for sight in position.sights) > HARDLY:
                other = position.copy()
                other.restore(hull(position))
                shake(other, climb(other), tries=tries)
                if other.score > position.score:
                    position.restore(other.state[:-1])
            return None
        pieces = before.pieces() if before else pieces_in(position, self._kit)
        placing = Placing(self._kit, position, self._placing, pieces)
        if before is not None:
            placing.remember(before)
        placing.climb()
        # To one camera many wrong answers look nearly as good: every place is tried anew.
        least = (100 if len(position.sights) == 1 else 15) if thorough else 0
        placing.shake(tries=100 if thorough else 4, least=least)
        return placing

    def _adapted(
        self, position: Position, looks: Mapping[str, RayLooks]
    ) -> tuple[Position, dict[str, RayLooks], float]:
        """The same position, seen with colours that follow this picture, and how far they went."""
        nudge(position, self.settings.nudge)
        followed: dict[str, RayLooks] = {}
        moved = 0.0
        for (name, own), sight in zip(looks.items(), position.sights, strict=True):
            now = self._followed(name, sight, own)
            followed[name] = self._looks[name].again(own, now)
            off = now.colours.mean[..., 0] - self.cameras[name].colours.mean[..., 0]
            off = np.append(off, np.zeros(1) if now.rising is None else now.rising[:, 0])
            moved = max(moved, float(np.abs(off).max(initial=0.0)))
        anchor = None if position.anchor is None else position.anchor.ravel()
        return Position(self._evidence(followed), position.state[:-1], anchor), followed, moved

    def _all_followed(
        self, position: Position, looks: Mapping[str, RayLooks]
    ) -> dict[str, Followed]:
        """The colours as all cameras show them in a position."""
        return {
            name: self._followed(name, sight, own)
            for (name, own), sight in zip(looks.items(), position.sights, strict=True)
        }

    def _followed(self, name: str, sight: Sight, looks: RayLooks) -> Followed:
        """The colours of pieces and of shadows, as a picture shows them."""
        settings = self.settings.adapt
        known = self.cameras[name].colours
        colours, rising = adapted(sight, looks.values, known, settings, looks.followed.rising)
        return Followed(colours, shadows(sight, looks, settings), rising)

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


def _instead(other: Position, columns: Iterable[int], gain: float) -> dict[int, Rivals]:
    """The stacks of another position on these columns, with what it would gain as a whole."""
    return {column: {tuple(other.stack(column).tolist()): gain} for column in columns}


def _since(begin: float) -> dict[str, float]:
    return {"total": (time.perf_counter() - begin) * 1e3}
