"""Play: what a scene beyond doubt does to the book, and what is waited for before it is told."""

from __future__ import annotations

import math
from typing import Any

from rules.book import Book
from rules.cells import Cell
from rules.events import Event
from rules.explaining import Explaining, Found
from rules.game import Game
from rules.looks import Belief, adopted, look, missing_and_new, part_of, unknown
from rules.moments import MOST_MOMENTS, Asked, Moment, Waiting
from rules.patience import Patience
from rules.stacks import Stacks


class Play:
    """One game as it is being played, from scene to scene."""

    def __init__(
        self, game: Game[Any], patience: Patience, book: Book, waiting: Waiting | None = None
    ) -> None:
        self.game = game
        self.patience = patience
        self.book = book
        self.phase = "setup"
        self.seen = Stacks()
        self.waiting = waiting
        self.asked: Asked | None = None
        self.left: dict[Cell, tuple[str, str]] = {}  # what was read, and is believed instead
        self.moments: list[Moment] = []  # the last ones, since people have decided anything
        self.hand: str | None = None  # who has reached in before the scene that stands

    @property
    def believed(self) -> Stacks:
        """What should stand on the table, be it legal or not."""
        return self.book.standing

    @property
    def confirmed(self) -> Stacks:
        """What stood on the table before the open turn."""
        return self.book.stacks

    def settled(self) -> None:
        """Nothing is waited for, and no question is open."""
        self.waiting = self.asked = None

    def explaining(self, t: float = 0.0) -> Explaining:
        """How scenes are explained now."""
        opened = self.book.open
        passing = None
        if self.waiting:
            passing = self.waiting.stacks
        elif opened is not None and opened.seen.kind == "owed":
            passing = opened.stacks
        return Explaining(self.book, t, passing, self.hand, self.patience.revise_s)

    def note(self, t: float, stacks: Stacks) -> None:
        """A scene is about to be played, and may be played again."""
        if not self.moments or self.moments[-1].stacks != stacks:
            moment = Moment(t, stacks, self.hand, self.book.copy(), self.waiting)
            self.moments = [*self.moments, moment][-MOST_MOMENTS:]

    def noted(self, t: float, stacks: Stacks) -> list[Event]:
        """What follows from a scene by which nothing is corrected."""
        self.note(t, stacks)
        return [*self.judge(t, stacks), *self.tick(t)]

    def tick(self, t: float) -> list[Event]:
        """The passing of time with nothing changed."""
        if self.phase != "play":
            return []
        waiting = self.waiting
        if waiting and waiting.stacks == self.seen and t - waiting.since >= self._mends(waiting):
            if waiting.begun:
                return self._taken_along(t, waiting)
            if waiting.theirs:  # then it is its owner's doing, whoever seems to have reached in
                return self._told(t, waiting.stacks, self.explaining(t).fine(waiting.stacks))
            return self.illegal(t, waiting.stacks)
        opened = self.book.open
        if opened and opened.legal and t - opened.t >= self.patience.bonus_s:
            bonus = any(owed.what == "bonus" for owed in opened.seen.owed)
            return self.end(t) if bonus else []
        return []

    def judge(self, t: float, stacks: Stacks) -> list[Event]:
        book, explaining = self.book, self.explaining(t)
        if stacks == self.believed or (stacks == self.confirmed and not explaining.lifted(stacks)):
            self.settled()
            return book.take_back(t) if stacks == self.confirmed else []
        found = explaining.fine(stacks)
        if not found.looks and unknown(stacks):
            spelled = explaining.spelled(stacks)
            if self.moments and self.moments[-1].stacks == stacks:
                self.moments[-1] = self.moments[-1]._replace(stacks=spelled)
            stacks = self.seen = spelled
            found = explaining.fine(stacks)
        if found.goes_on:
            return self._gone_on(t, stacks, found)
        if self._takes_anothers(found):
            if self.waiting is None or self.waiting.stacks != stacks:
                self.waiting = Waiting(stacks, t, theirs=True)
            return []
        if not found.looks:
            if events := self.book.take_back_to(t, stacks):
                self.settled()
                return events
            waits = self._going_back(t, stacks) or self._in_disorder(t, stacks)
            return [] if waits else self.illegal(t, stacks)
        return self._told(t, stacks, found)

    def _told(self, t: float, stacks: Stacks, found: Found) -> list[Event]:
        """The turns that explain a scene, and nobody can complain about."""
        book, events = self.book, list[Event]()
        self.settled()
        for i, seen in enumerate(found.looks):
            if i or found.fresh:
                events += book.close(t)
            last = i == len(found.looks) - 1 and not (seen.kind == "legal" and unknown(stacks))
            events += book.make(t, seen, stacks if last else seen.after[0].stacks)
            if seen.kind == "legal" and not seen.owed and book.ended(t):
                return events + self.end(t)
        return events

    def _takes_anothers(self, found: Found) -> bool:
        """Whether only a piece of the next player's is gone, and who has just moved reached in.

        What comes down next tells whose doing that was.
        """
        opened = self.book.open
        if opened is None or not opened.legal or not found.fresh or len(found.looks) > 1:
            return False
        (lifted,) = found.looks
        mover, next_one = opened.seen.turn.player, lifted.turn.player
        only_gone = not any(change.add for change in lifted.turn.changes)
        return lifted.kind == "owed" and only_gone and self.hand == mover != next_one

    def kept_before(self, t: float, stacks: Stacks) -> list[Event]:
        """What follows if that which waited was an illegal turn, let stand by a legal one now."""
        waiting = self.waiting
        if waiting is None or not waiting.begun:
            return []
        base = self._before(waiting)
        wrong = self.explaining(t).blamed(base, waiting.stacks)
        player = self.game.next_player(base[0], wrong.turn)
        belief = adopted(self.game, base, waiting.stacks, player)
        if not belief or not look(self.game, belief, stacks).fine:
            return []
        self.note(t, stacks)
        events = self._taken_along(t, waiting)
        events += self.book.close(t)
        return [*events, *self.judge(t, stacks)]

    def _gone_on(self, t: float, stacks: Stacks, found: Found) -> list[Event]:
        """What follows where a piece is gone besides a legal turn: who has taken it will show."""
        waiting = Waiting(stacks, t, begun=True, fresh=found.fresh)
        if self.hand == found.looks[0].turn.player:
            return self._taken_along(t, waiting)  # no other hand was there
        if self.waiting is None or self.waiting.stacks != stacks:
            self.waiting = waiting
        return []

    def _taken_along(self, t: float, waiting: Waiting) -> list[Event]:
        """The turn that waited as one illegal turn, with all that is gone."""
        wrong = self.explaining(t).blamed(self._before(waiting), waiting.stacks)
        self.settled()
        events = self.book.close(t) if waiting.fresh else []
        return [*events, *self.book.make(t, wrong, waiting.stacks)]

    def _before(self, waiting: Waiting) -> Belief:
        """The belief before the turn that waited."""
        opened = self.book.open
        if waiting.fresh and opened is not None:
            return self.book.after(opened)
        return self.book.belief

    def illegal(self, t: float, stacks: Stacks) -> list[Event]:
        """A change that is part of no legal turn, of whichever player it blames least."""
        found = self.explaining(t).wrong(stacks)
        self.settled()
        events = self.book.close(t) if found.fresh else []
        if len(found.looks) > 1:
            first = found.looks[0]
            events += self.book.make(t, first, first.after[0].stacks)
            events += self.book.close(t)
        return [*events, *self.book.make(t, found.looks[-1], stacks)]

    def _going_back(self, t: float, stacks: Stacks) -> bool:
        """Whether an illegal turn of several pieces is being taken back one after the other."""
        opened = self.book.open
        if opened is None or opened.seen.kind != "illegal":
            return False
        if not part_of(self.confirmed, opened.stacks, stacks):
            return False
        if self.waiting is None or not self.waiting.back or self.waiting.stacks != stacks:
            self.waiting = Waiting(stacks, t, back=True)
        return True

    def _in_disorder(self, t: float, stacks: Stacks) -> bool:
        """Whether pieces are only missing, and what follows waits."""
        if not self.disordered(stacks):
            return False
        if self.waiting is None or self.waiting.stacks != stacks:
            self.waiting = Waiting(stacks, t)
        return True

    def disordered(self, stacks: Stacks) -> bool:
        """Whether pieces are only missing: nudged, or knocked over and being restored."""
        missing, new = missing_and_new(self.believed, stacks)
        knocked = missing >= self.patience.knocked and missing > new
        return knocked or (missing > 0 and not new)

    def _mends(self, waiting: Waiting) -> float:
        """For how many seconds what waits may still be mended or go on; accidents for ever."""
        if waiting.begun or waiting.back or waiting.theirs:
            return self.patience.lifted_s
        missing, new = missing_and_new(self.believed, waiting.stacks)
        if not new and missing < self.patience.knocked:
            return self.patience.missing_s
        # Who has put down most of what is gone has meant it.
        return self.patience.lifted_s if 2 * new > missing else math.inf

    def end(self, t: float) -> list[Event]:
        """The last turn is final, and if that ends the game, the game is over."""
        events = self.book.close(t)
        ended = self.book.ended(t)
        if ended:
            self.phase = "over"
            events += [ended, Event("phase", t, {"phase": "over"})]
        return events
