"""Asking: what is asked where a verdict depends on doubt, and what answers it if nobody does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from rules.cells import Cell
from rules.doubt import Chances, differing, innocent_instead, question
from rules.events import Event
from rules.looks import still_stands
from rules.moments import Asked
from rules.play import Play
from rules.stacks import Stacks


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """The questions of one game."""

    _play: Play

    def chosen(
        self, t: float, seen: Stacks, unsure: Chances, hidden: Collection[Cell] = ()
    ) -> Stacks | Event | None:
        """The scene to judge; a question where the verdict depends on the doubt.

        Who plays on and leaves the question open has seen nothing wrong.
        """
        innocent = self._play.explaining().innocent
        if innocent(seen):
            return seen
        left = self._as_left(seen)
        if left != seen and innocent(left):
            return left
        others = innocent_instead(seen, unsure, self._play.patience.doubt, innocent)
        if others and self._accused_anyway(t, seen):
            # The breach that was told stands in either case: nobody is acquitted by an answer.
            others = [stacks for stacks in others if stacks != self._play.believed]
        if not others and not (breaches := self._hardly_seen(t, seen, unsure)):
            self._settle_breach(seen, hidden)
            return self._left_open(seen)
        if not others:
            events = self.ask(t, seen, breaches, breach=True)
        elif self._plays_on(seen, differing(seen, others)):
            return others[0]
        else:
            events = self.ask(t, seen, others, others[0])
        return events[0] if events else None

    def _hardly_seen(self, t: float, seen: Stacks, unsure: Chances) -> list[Stacks]:
        """What else may have come, where all that has come is rather not there than there.

        Then nobody knows what a player did, and he is asked instead of accused.
        """
        least, most = self._play.patience.doubt, self._play.patience.seen
        came = self._play.believed.differing(seen)
        chances = {cell: unsure.get(cell, {}) for cell in came}
        if any(chances[cell].get(seen.get(cell, ""), 1.0) >= most for cell in came):
            return []
        if self._accused_anyway(t, seen) or self._play.disordered(seen):
            return []
        return [
            seen.with_stack(cell, stack)
            for cell in came
            for stack, chance in chances[cell].items()
            if chance >= least and stack != seen.get(cell, "") and "?" not in stack
        ]

    def _settle_breach(self, seen: Stacks, hidden: Collection[Cell]) -> None:
        """A breach that was asked about and is seen well now is asked about no more."""
        asked = self._play.asked
        if asked is None or not asked.breach or asked.scene != seen:
            return
        if not {*self._play.believed.differing(seen)} & {*hidden}:
            self._play.asked = None

    def _accused_anyway(self, t: float, seen: Stacks) -> bool:
        """Whether more has come to an illegal turn that has been told already."""
        opened = self._play.book.open
        if opened is None or opened.seen.kind != "illegal":
            return False
        if not still_stands(self._play.confirmed, opened.stacks, seen):
            return False
        return not self._play.explaining(t).wrong(seen).fresh

    def _left_open(self, seen: Stacks) -> Stacks:
        """The scene with the innocent answer where play goes on from a question.

        So it is however surely the doubtful cells are read now: they look as they did.
        """
        asked = self._play.asked
        if asked is None or asked.innocent is None:
            return seen
        cells = asked.scene.differing(asked.innocent)
        if not self._plays_on(seen, cells) or {*asked.scene.differing(seen)} & {*cells}:
            return seen
        for cell in cells:
            self._play.left[cell] = asked.scene.get(cell, ""), asked.innocent.get(cell, "")
        return Stacks({**seen, **{cell: asked.innocent.get(cell, "") for cell in cells}})

    def _as_left(self, seen: Stacks) -> Stacks:
        """The scene with the answers that questions got because play went on."""
        believed = self._play.believed
        same = {
            cell: answer
            for cell, (read, answer) in self._play.left.items()
            if seen.get(cell, "") == read and believed.get(cell, "") == answer
        }
        return Stacks({**seen, **same}) if same else seen

    def went_on(self, t: float, chosen: Stacks) -> list[Event]:
        """What was asked about is played with the answer that holds now, if more is wrong since.

        Else what is right and what is wrong would be told as one illegal turn.
        """
        asked = self._play.asked
        if asked is None or asked.innocent is None or self._play.explaining().innocent(chosen):
            return []
        doubtful = asked.scene.differing(asked.innocent)
        if any(chosen.get(cell, "") != asked.innocent.get(cell, "") for cell in doubtful):
            return []
        return self._as_asked(t, asked, asked.innocent)

    def unanswered(self, t: float, seen: Stacks) -> list[Event]:
        """The breach that was asked about as it is seen now, where play goes on beside it.

        Else it would be told as one turn with the next one, and no later turn would be right.
        """
        asked, believed = self._play.asked, self._play.believed
        if asked is None or not asked.breach or self._play.explaining().innocent(seen):
            return []
        came = believed.differing(asked.scene)
        if any(seen.get(cell, "") == believed.get(cell, "") for cell in came):
            return []
        if not {*asked.scene.differing(seen)} - {*came}:
            return []
        self._play.asked = None
        return self._as_asked(
            t, asked, Stacks({**asked.scene, **{cell: seen.get(cell, "") for cell in came}})
        )

    def _as_asked(self, t: float, asked: Asked, stacks: Stacks) -> list[Event]:
        """What follows if this was there when players were asked, told only now."""
        seen, hand = self._play.seen, self._play.hand
        self._play.seen, self._play.hand = stacks, asked.hand
        self._play.note(asked.t, stacks)
        events = self._play.judge(asked.t, stacks)
        self._play.seen, self._play.hand = seen, hand
        return [replace(event, t=t) for event in events]

    def _plays_on(self, seen: Stacks, doubtful: Iterable[Cell]) -> bool:
        """Whether more has come beside what was asked about, and nothing of it was taken back."""
        if self._play.asked is None:
            return False
        asked = self._play.asked.scene
        changed = {*asked.differing(seen)} - {*doubtful}
        return bool(changed) and changed.isdisjoint(self._play.believed.differing(asked))

    def ask(
        self,
        t: float,
        seen: Stacks,
        others: Sequence[Stacks],
        innocent: Stacks | None = None,
        *,
        breach: bool = False,
    ) -> list[Event]:
        """The question what stands there, once a scene."""
        if self._play.asked is not None and self._play.asked.scene == seen:
            return []
        self._play.asked = Asked(t, seen, innocent, self._play.hand, breach)
        return [question(t, seen, others, self._play.book.language)]
