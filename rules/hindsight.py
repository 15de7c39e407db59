"""Hindsight: what earlier scenes hid or were misread as, by what a later one shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rules.asking import Asking
from rules.blocks import torn
from rules.cells import Cell
from rules.doubt import Chances, likely, mended, whole
from rules.events import Event, names
from rules.looks import unknown
from rules.moments import MOST_MOMENTS, Again, Asked, Moment, again
from rules.play import Play
from rules.stacks import Stacks


@dataclass(frozen=True, slots=True, eq=False)
class Hindsight:
    """What was not as it seemed, in one game."""

    _play: Play
    _asking: Asking

    def otherwise(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event] | None:
        """What follows where things were not as they seemed before; None where they were."""
        found = whole(self._play.book, stacks, doubted, self._play.patience.misread)
        if found is not None:
            self._play.settled()
            self._play.seen = found.now
            self._play.moments.clear()
            events = self._play.book.make(t, found.turn, found.stacks)
            events.append(Event("corrected", t, {"cells": names([found.cell])}))
            return [*events, *self._play.judge(t, found.now)]
        explaining = self._play.explaining(t)
        if explaining.innocent(stacks) or explaining.fine(stacks).looks:
            return None
        if self._play.asked is not None and stacks == self._play.asked.scene:
            return self._play.tick(t)  # the question stands until it is answered, or play goes on
        kept = self._play.kept_before(t, stacks)
        return kept or self._retold(t, stacks, doubted) or self._found_back(t, stacks, doubted)

    def _retold(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event] | None:
        """What follows where earlier scenes hid a piece that shows itself now.

        They are told anew with it; None where that explains nothing.
        """
        other = likely(doubted, self._play.patience)
        for way in again(self._play.moments, stacks, other, self._play.game.spec.colours):
            events = self._played_again(t, way)
            if events is not None:
                return events
        return None

    def _played_again(self, t: float, way: Again) -> list[Event] | None:
        """The scenes played with what was hidden in them; None if that blames anybody anew."""
        first = way.moments[0]
        other = Play(self._play.game, self._play.patience, first.book.copy(), first.waiting)
        other.phase = "play"
        told: list[Event] = []
        known = self._play.book.breaches()
        last = Moment(t, way.now, self._play.hand, self._play.book, None)
        for moment in (*way.moments, last):
            told = [event for event in told if _lasts(event)]
            told += other.tick(moment.t)
            other.hand, other.seen = moment.hand, moment.stacks
            explained = other.explaining(moment.t).fine(moment.stacks).looks
            kept = [] if explained else other.kept_before(moment.t, moment.stacks)
            told += kept or other.noted(moment.t, moment.stacks)
            if other.phase != "play" or not other.book.breaches() <= known:
                return None
        opened = other.book.open
        if opened is None or not opened.legal or other.believed != way.now:
            return None
        if not other.book.tells_again(self._play.book):
            return None  # else any surplus cube would be somebody's turn that nobody saw
        surplus = range(self._play.book.n, other.book.n, -1)
        events = [Event("taken-back", t, {"n": n}) for n in surplus]
        events.append(Event("corrected", t, {"cells": names(way.cells)}))
        self._play.moments = [*self._play.moments[: way.back], *other.moments][-MOST_MOMENTS:]
        self._play.book, self._play.seen = other.book, way.now
        self._play.settled()
        return [*events, *(replace(event, t=t) for event in told)]

    def _found_back(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event] | None:
        """What follows where an earlier scene was misread; None where that explains nothing.

        Where this scene shows what was in doubt before, and still nothing explains it, the
        players are asked.
        """
        now = self._play.believed
        found = mended(self._play.book, stacks, doubted, self._play.patience)
        if found is not None:
            events = self._play.book.close(t) if found.stays else self._play.book.take_back(t)
            self._play.book.belief = found.belief
            self._play.settled()
            self._play.moments.clear()
            events.append(Event("corrected", t, {"cells": names(found.cells)}))
            return [*events, *self._play.judge(t, stacks)]
        other = likely(doubted, self._play.patience)
        cells = [c for c in now.differing(stacks) if stacks.get(c, "") in other.get(c, ())]
        if not cells:
            return None
        before = Stacks({**stacks, **{cell: now.get(cell, "") for cell in cells}})
        kit = self._play.game.spec.kit
        if torn(kit, before) and not torn(kit, stacks):
            return None  # what has come is a whole block: its half was not there before
        if torn(kit, stacks) and not torn(kit, before) and _has_more(stacks, before):
            return self._as_before(t, before, cells)  # and half a block has not come
        wrong = self._wrong_anyway(t, before, cells)
        if wrong:
            # The same scene again is the passing of time.
            self._play.asked = Asked(t, stacks, None, None)
        return wrong or self._asking.ask(t, stacks, [before])

    def _as_before(self, t: float, before: Stacks, cells: Sequence[Cell]) -> list[Event]:
        """What follows from a scene in which doubtful cells are as they were."""
        self._play.seen = before
        events = self._play.noted(t, before)
        return [Event("corrected", t, {"cells": names(cells)}), *events] if events else []

    def _wrong_anyway(self, t: float, before: Stacks, cells: Sequence[Cell]) -> list[Event]:
        """The breach of one piece beside doubtful cells, whatever stands there; maybe none.

        With these cells as they were the game goes on. More pieces than one may be misread, too.
        """
        explaining = self._play.explaining(t)
        if explaining.innocent(before) or unknown(before):
            return []
        wrong = explaining.wrong(before).looks
        piece = wrong[-1].turn.changes
        if len(wrong) > 1 or len(piece) != 1 or not piece[0].add:
            return []
        self._play.note(t, before)
        self._play.seen = before
        return [Event("corrected", t, {"cells": names(cells)}), *self._play.illegal(t, before)]


def _has_more(stacks: Stacks, before: Stacks) -> bool:
    """Whether everything that stood there still does, and nothing but more has come."""
    return all(stacks.get(cell, "").startswith(stack) for cell, stack in before.items())


def _lasts(event: Event) -> bool:
    """Whether what was told of a scene still holds when the next one is played after it.

    Open turns are told anew with it; breaches stay on the record, taken back or not.
    """
    told = event.event not in ("turn", "owed")
    return bool(told or event.data.get("final") or not event.data.get("legal", True))
