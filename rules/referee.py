"""The referee: fed what stood on the table each time it was still, it tells what happened.

It believes in a position before the open turn and explains every scene from there: nothing
changed, a legal turn, a turn that still owes something, two turns at once, an illegal turn, or a
table in disorder, on which it keeps silent until the position stands again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rules.blocks import torn
from rules.book import Book
from rules.cells import Cell
from rules.doubt import Chances, differing, innocent_instead, likely, mended, question, whole
from rules.errors import RulesError
from rules.events import Event, names
from rules.explaining import Explaining, Found
from rules.game import Game
from rules.looks import (
    Belief,
    adopted,
    filled,
    look,
    missing_and_new,
    part_of,
    still_stands,
    unknown,
)
from rules.moments import MOST_MOMENTS, Again, Moment, Waiting, again
from rules.patience import Patience
from rules.record import Record
from rules.seats import Seats, across
from rules.stacks import Stacks
from rules.turn import Turn


class Asked(NamedTuple):
    """A scene that the players were asked about, and how it blames nobody, if that is known."""

    t: float
    scene: Stacks
    innocent: Stacks | None
    hand: str | None  # who had reached in


SOMEBODY_ELSE = ""  # none of the players by name, but not the one who has made the open turn


class Referee:
    """Judges one game after another on one table."""

    def __init__(
        self, game: Game[Any], language: str = "en", patience: Patience | None = None
    ) -> None:
        self.game = game
        self.phase = "setup"
        self._patience = patience or Patience()
        self._book = Book(game, (game.start(),), language)
        self._seen = Stacks()
        self._disorder: Waiting | None = None
        self._asked: Asked | None = None
        self._awaited: Stacks | None = None
        self._moments: list[Moment] = []  # the last ones, since people have decided anything
        self._seats = Seats()
        self._hand: str | None = None  # who has reached in before the scene that stands
        self._made_from: float | None = None  # the hour from which the open turn was made

    @property
    def position(self) -> Any:
        """The position believed in, behind the open turn if that is legal."""
        return self._book.position

    @property
    def believed(self) -> Stacks:
        """What should stand on the table, be it legal or not."""
        return self._book.standing

    @property
    def confirmed(self) -> Stacks:
        """What stood on the table before the open turn."""
        return self._book.stacks

    @property
    def record(self) -> Record:
        """The game so far in the contract's form, illegal turns marked."""
        return self._book.record()

    def expected(self) -> tuple[Stacks, ...]:
        """Scenes worth looking for: what any legal turn would make of the position."""
        opened = self._book.open
        positions = [self.position]
        if opened is not None and not opened.legal:  # it may be kept
            positions += self._book.after(opened)[:1]
        found = (after.stacks for where in positions for after in self.game.successors(where))
        return tuple(dict.fromkeys(found))

    def explains(self, stacks: Stacks) -> bool:
        """Whether this scene would surprise nobody: nothing changed, or what a player may do."""
        if self.phase == "play":
            return self._explaining().innocent(stacks)
        return self.game.is_start(stacks)

    # --- the scenes --------------------------------------------------------------------------

    def observe(
        self,
        t: float,
        stacks: Stacks,
        unsure: Chances | None = None,
        hidden: Iterable[Cell] = (),
        doubted: Chances | None = None,
        hand_clock: float | None = None,
    ) -> list[Event]:
        """What a scene that stands still means; the same one again is the passing of time.

        `doubted` tells what else could have stood on cells in the scenes before this one,
        `hand_clock` from which hour of the table hands have reached in since then.
        """
        seen = filled(stacks, self.believed, hidden)
        if seen != self._seen:  # a hand that has changed nothing tells nothing
            self._hand = None if hand_clock is None else self._whose(hand_clock)
        self._seen = seen
        opened = self._book.open
        events = self._observed(t, seen, unsure or {}, doubted or {})
        now = self._book.open
        if now is not None and now is not opened:
            self._made_from = hand_clock
            known = now.seen.turn.player
            certain = self._hand in (None, known) and (opened is None or now.n <= opened.n + 1)
            if hand_clock is not None and certain:
                self._seats.note(known, hand_clock)
        return events

    def _whose(self, hand_clock: float) -> str | None:
        """Whose hand has come from there; at least another's than that of the open turn."""
        known = self._seats.whose(hand_clock, self.game.players)
        opened = self._book.open
        if known is not None or opened is None or self._made_from is None:
            return known
        if not across(hand_clock, self._made_from):
            return None
        mover = opened.seen.turn.player
        others = [player for player in self.game.players if player != mover]
        return others[0] if len(others) == 1 else SOMEBODY_ELSE

    def _observed(self, t: float, seen: Stacks, unsure: Chances, doubted: Chances) -> list[Event]:
        if self.phase in ("setup", "over"):
            return self._begin(t, seen) if self.game.is_start(seen) else []
        if self.phase == "paused" or self._awaited not in (None, seen):
            return []
        self._awaited = None
        chosen = self._settle_doubt(t, seen, unsure)
        if isinstance(chosen, Event):
            return [chosen]
        if chosen is None:
            return []
        if chosen != seen:
            before = self._went_on(t, chosen)
            self._seen = chosen
            self._note(t, chosen)
            events = [*before, *self._play(t, chosen)]
            if events:  # else it waits, and whoever is told so would believe what stood before
                events.insert(0, Event("corrected", t, {"cells": names(seen.differing(chosen))}))
            return [*events, *self.tick(t)]
        return self._judged(t, chosen, doubted)

    def _judged(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event]:
        """What follows from a scene that is not doubtful itself."""
        found = self._otherwise(t, stacks, doubted)
        return self._noted(t, stacks) if found is None else found

    def _noted(self, t: float, stacks: Stacks) -> list[Event]:
        """What follows from a scene by which nothing is corrected."""
        self._note(t, stacks)
        return [*self._play(t, stacks), *self.tick(t)]

    def _note(self, t: float, stacks: Stacks) -> None:
        """A scene is about to be played, and may be played again."""
        if not self._moments or self._moments[-1].stacks != stacks:
            moment = Moment(t, stacks, self._hand, self._book.copy(), self._disorder)
            self._moments = [*self._moments, moment][-MOST_MOMENTS:]

    def tick(self, t: float) -> list[Event]:
        """The passing of time with nothing changed."""
        if self.phase != "play":
            return []
        waiting = self._disorder
        if waiting and waiting.stacks == self._seen and t - waiting.since >= self._mends(waiting):
            if waiting.begun:
                return self._taken_along(t, waiting)
            if waiting.theirs:  # then it is its owner's doing, whoever seems to have reached in
                return self._told(t, waiting.stacks, self._explaining(t).fine(waiting.stacks))
            return self._illegal(t, waiting.stacks)
        opened = self._book.open
        if opened and opened.legal and t - opened.t >= self._patience.bonus_s:
            bonus = any(owed.what == "bonus" for owed in opened.seen.owed)
            return self._end(t) if bonus else []
        return []

    def _begin(self, t: float, stacks: Stacks) -> list[Event]:
        belief = (self.game.start_from(stacks),)
        self._book = Book(self.game, belief, self._book.language)
        self._disorder = self._asked = self._awaited = self._hand = self._made_from = None
        self._seats = Seats()
        self._moments.clear()
        self.phase = "play"
        return [Event("phase", t, {"phase": "play"})]

    def _settle_doubt(self, t: float, seen: Stacks, unsure: Chances) -> Stacks | Event | None:
        """The scene to judge; a question where the verdict depends on the doubt.

        Who plays on and leaves the question open has seen nothing wrong.
        """
        innocent = self._explaining().innocent
        if innocent(seen):
            return seen
        others = innocent_instead(seen, unsure, self._patience.doubt, innocent)
        if self._accused_anyway(t, seen):
            # The breach that was told stands in either case: nobody is acquitted by an answer.
            others = [stacks for stacks in others if stacks != self.believed]
        if not others:
            return self._left_open(seen)
        if self._plays_on(seen, differing(seen, others)):
            return others[0]
        asked = self._ask(t, seen, others, others[0])
        return asked[0] if asked else None

    def _accused_anyway(self, t: float, seen: Stacks) -> bool:
        """Whether more has come to an illegal turn that has been told already."""
        opened = self._book.open
        if opened is None or opened.seen.kind != "illegal":
            return False
        if not still_stands(self.confirmed, opened.stacks, seen):
            return False
        return not self._explaining(t).wrong(seen).fresh

    def _left_open(self, seen: Stacks) -> Stacks:
        """The scene with the innocent answer where play goes on from a question.

        So it is however surely the doubtful cells are read now: they look as they did.
        """
        asked = self._asked
        if asked is None or asked.innocent is None:
            return seen
        cells = asked.scene.differing(asked.innocent)
        if not self._plays_on(seen, cells) or {*asked.scene.differing(seen)} & {*cells}:
            return seen
        return Stacks({**seen, **{cell: asked.innocent.get(cell, "") for cell in cells}})

    def _went_on(self, t: float, chosen: Stacks) -> list[Event]:
        """What was asked about is played with the answer that holds now, if more is wrong since.

        Else what is right and what is wrong would be told as one illegal turn.
        """
        asked, now = self._asked, self._hand
        if asked is None or asked.innocent is None or self._explaining().innocent(chosen):
            return []
        doubtful = asked.scene.differing(asked.innocent)
        if any(chosen.get(cell, "") != asked.innocent.get(cell, "") for cell in doubtful):
            return []
        self._seen, self._hand = asked.innocent, asked.hand
        self._note(asked.t, asked.innocent)
        events = self._play(asked.t, asked.innocent)
        self._hand = now
        return [replace(event, t=t) for event in events]

    def _plays_on(self, seen: Stacks, doubtful: Iterable[Cell]) -> bool:
        """Whether more has come beside what was asked about, and nothing of it was taken back."""
        if self._asked is None:
            return False
        asked = self._asked.scene
        changed = {*asked.differing(seen)} - {*doubtful}
        return bool(changed) and changed.isdisjoint(self.believed.differing(asked))

    def _ask(
        self, t: float, seen: Stacks, others: Sequence[Stacks], innocent: Stacks | None = None
    ) -> list[Event]:
        """The question what stands there, once a scene."""
        if self._asked is not None and self._asked.scene == seen:
            return []
        self._asked = Asked(t, seen, innocent, self._hand)
        return [question(t, seen, others, self._book.language)]

    def _otherwise(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event] | None:
        """What follows where things were not as they seemed before; None where they were."""
        found = whole(self._book, stacks, doubted, self._patience.misread)
        if found is not None:
            self._disorder = self._asked = None
            self._seen = found.now
            self._moments.clear()
            events = self._book.make(t, found.turn, found.stacks)
            events.append(Event("corrected", t, {"cells": names([found.cell])}))
            return [*events, *self._play(t, found.now)]
        explaining = self._explaining(t)
        if explaining.innocent(stacks) or explaining.fine(stacks).looks:
            return None
        if self._asked is not None and stacks == self._asked.scene:
            return self.tick(t)  # the question stands until it is answered, or play goes on
        kept = self._kept_before(t, stacks)
        return kept or self._retold(t, stacks, doubted) or self._found_back(t, stacks, doubted)

    def _retold(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event] | None:
        """What follows where earlier scenes hid a piece that shows itself now.

        They are told anew with it; None where that explains nothing.
        """
        other = likely(doubted, self._patience)
        for way in again(self._moments, stacks, other, self.game.spec.colours):
            events = self._played_again(t, way)
            if events is not None:
                return events
        return None

    def _played_again(self, t: float, way: Again) -> list[Event] | None:
        """The scenes played with what was hidden in them; None if that blames anybody anew."""
        first = way.moments[0]
        other = Referee(self.game, self._book.language, self._patience)
        other.phase, other._book, other._disorder = "play", first.book.copy(), first.waiting
        told: list[Event] = []
        known = self._book.breaches()
        last = Moment(t, way.now, self._hand, self._book, None)
        for moment in (*way.moments, last):
            told = [event for event in told if _lasts(event)]
            told += other.tick(moment.t)
            other._hand, other._seen = moment.hand, moment.stacks
            explained = other._explaining(moment.t).fine(moment.stacks).looks
            kept = [] if explained else other._kept_before(moment.t, moment.stacks)
            told += kept or other._noted(moment.t, moment.stacks)
            if other.phase != "play" or not other._book.breaches() <= known:
                return None
        opened = other._book.open
        if opened is None or not opened.legal or other.believed != way.now:
            return None
        if not other._book.tells_again(self._book):
            return None  # else any surplus cube would be somebody's turn that nobody saw
        surplus = range(self._book.n, other._book.n, -1)
        events = [Event("taken-back", t, {"n": n}) for n in surplus]
        events.append(Event("corrected", t, {"cells": names(way.cells)}))
        self._moments = [*self._moments[: way.back], *other._moments][-MOST_MOMENTS:]
        self._book, self._seen = other._book, way.now
        self._disorder = self._asked = None
        return [*events, *(replace(event, t=t) for event in told)]

    def _found_back(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event] | None:
        """What follows where an earlier scene was misread; None where that explains nothing.

        Where this scene shows what was in doubt before, and still nothing explains it, the
        players are asked.
        """
        now = self.believed
        found = mended(self._book, stacks, doubted, self._patience)
        if found is not None:
            events = self._book.close(t) if found.stays else self._book.take_back(t)
            self._book.belief = found.belief
            self._disorder = self._asked = None
            self._moments.clear()
            events.append(Event("corrected", t, {"cells": names(found.cells)}))
            return [*events, *self._play(t, stacks)]
        other = likely(doubted, self._patience)
        cells = [c for c in now.differing(stacks) if stacks.get(c, "") in other.get(c, ())]
        if not cells:
            return None
        before = Stacks({**stacks, **{cell: now.get(cell, "") for cell in cells}})
        kit = self.game.spec.kit
        if torn(kit, before) and not torn(kit, stacks):
            return None  # what has come is a whole block: its half was not there before
        if torn(kit, stacks) and not torn(kit, before) and _has_more(stacks, before):
            return self._as_before(t, before, cells)  # and half a block has not come
        wrong = self._wrong_anyway(t, before, cells)
        if wrong:
            self._asked = Asked(
                t, stacks, None, None
            )  # the same scene again is the passing of time
        return wrong or self._ask(t, stacks, [before])

    def _as_before(self, t: float, before: Stacks, cells: Sequence[Cell]) -> list[Event]:
        """What follows from a scene in which doubtful cells are as they were."""
        self._seen = before
        events = self._noted(t, before)
        return [Event("corrected", t, {"cells": names(cells)}), *events] if events else []

    def _wrong_anyway(self, t: float, before: Stacks, cells: Sequence[Cell]) -> list[Event]:
        """The breach of one piece beside doubtful cells, whatever stands there; maybe none.

        With these cells as they were the game goes on. More pieces than one may be misread, too.
        """
        explaining = self._explaining(t)
        if explaining.innocent(before) or unknown(before):
            return []
        wrong = explaining.wrong(before).looks
        piece = wrong[-1].turn.changes
        if len(wrong) > 1 or len(piece) != 1 or not piece[0].add:
            return []
        self._note(t, before)
        self._seen = before
        return [Event("corrected", t, {"cells": names(cells)}), *self._illegal(t, before)]

    # --- turns -------------------------------------------------------------------------------

    def _explaining(self, t: float = 0.0) -> Explaining:
        """How scenes are explained now."""
        opened = self._book.open
        passing = None
        if self._disorder:
            passing = self._disorder.stacks
        elif opened is not None and opened.seen.kind == "owed":
            passing = opened.stacks
        return Explaining(self._book, t, passing, self._hand, self._patience.revise_s)

    def _play(self, t: float, stacks: Stacks) -> list[Event]:
        book, explaining = self._book, self._explaining(t)
        if stacks == self.believed or (stacks == self.confirmed and not explaining.lifted(stacks)):
            self._disorder = self._asked = None
            return book.take_back(t) if stacks == self.confirmed else []
        found = explaining.fine(stacks)
        if not found.looks and unknown(stacks):
            spelled = explaining.spelled(stacks)
            if self._moments and self._moments[-1].stacks == stacks:
                self._moments[-1] = self._moments[-1]._replace(stacks=spelled)
            stacks = self._seen = spelled
            found = explaining.fine(stacks)
        if found.goes_on:
            return self._gone_on(t, stacks, found)
        if self._takes_anothers(found):
            if self._disorder is None or self._disorder.stacks != stacks:
                self._disorder = Waiting(stacks, t, theirs=True)
            return []
        if not found.looks:
            if events := self._book.take_back_to(t, stacks):
                self._disorder = self._asked = None
                return events
            waits = self._going_back(t, stacks) or self._in_disorder(t, stacks)
            return [] if waits else self._illegal(t, stacks)
        return self._told(t, stacks, found)

    def _told(self, t: float, stacks: Stacks, found: Found) -> list[Event]:
        """The turns that explain a scene, and nobody can complain about."""
        book, events = self._book, list[Event]()
        self._disorder = self._asked = None
        for i, seen in enumerate(found.looks):
            if i or found.fresh:
                events += book.close(t)
            last = i == len(found.looks) - 1 and not (seen.kind == "legal" and unknown(stacks))
            events += book.make(t, seen, stacks if last else seen.after[0].stacks)
            if seen.kind == "legal" and not seen.owed and book.ended(t):
                return events + self._end(t)
        return events

    def _takes_anothers(self, found: Found) -> bool:
        """Whether only a piece of the next player's is gone, and who has just moved reached in.

        What comes down next tells whose doing that was.
        """
        opened = self._book.open
        if opened is None or not opened.legal or not found.fresh or len(found.looks) > 1:
            return False
        (lifted,) = found.looks
        mover, next_one = opened.seen.turn.player, lifted.turn.player
        only_gone = not any(change.add for change in lifted.turn.changes)
        return lifted.kind == "owed" and only_gone and self._hand == mover != next_one

    def _kept_before(self, t: float, stacks: Stacks) -> list[Event]:
        """What follows if that which waited was an illegal turn, let stand by a legal one now."""
        waiting = self._disorder
        if waiting is None or not waiting.begun:
            return []
        base = self._before(waiting)
        wrong = self._explaining(t).blamed(base, waiting.stacks)
        player = self.game.next_player(base[0], wrong.turn)
        belief = adopted(self.game, base, waiting.stacks, player)
        if not belief or not look(self.game, belief, stacks).fine:
            return []
        self._note(t, stacks)
        events = self._taken_along(t, waiting)
        events += self._book.close(t)
        return [*events, *self._play(t, stacks)]

    def _gone_on(self, t: float, stacks: Stacks, found: Found) -> list[Event]:
        """What follows where a piece is gone besides a legal turn: who has taken it will show."""
        waiting = Waiting(stacks, t, begun=True, fresh=found.fresh)
        if self._hand == found.looks[0].turn.player:
            return self._taken_along(t, waiting)  # no other hand was there
        if self._disorder is None or self._disorder.stacks != stacks:
            self._disorder = waiting
        return []

    def _taken_along(self, t: float, waiting: Waiting) -> list[Event]:
        """The turn that waited as one illegal turn, with all that is gone."""
        wrong = self._explaining(t).blamed(self._before(waiting), waiting.stacks)
        self._disorder = self._asked = None
        events = self._book.close(t) if waiting.fresh else []
        return [*events, *self._book.make(t, wrong, waiting.stacks)]

    def _before(self, waiting: Waiting) -> Belief:
        """The belief before the turn that waited."""
        opened = self._book.open
        if waiting.fresh and opened is not None:
            return self._book.after(opened)
        return self._book.belief

    def _illegal(self, t: float, stacks: Stacks) -> list[Event]:
        """A change that is part of no legal turn, of whichever player it blames least."""
        found = self._explaining(t).wrong(stacks)
        self._disorder = self._asked = None
        events = self._book.close(t) if found.fresh else []
        if len(found.looks) > 1:
            first = found.looks[0]
            events += self._book.make(t, first, first.after[0].stacks)
            events += self._book.close(t)
        return [*events, *self._book.make(t, found.looks[-1], stacks)]

    def _going_back(self, t: float, stacks: Stacks) -> bool:
        """Whether an illegal turn of several pieces is being taken back one after the other."""
        opened = self._book.open
        if opened is None or opened.seen.kind != "illegal":
            return False
        if not part_of(self.confirmed, opened.stacks, stacks):
            return False
        if self._disorder is None or not self._disorder.back or self._disorder.stacks != stacks:
            self._disorder = Waiting(stacks, t, back=True)
        return True

    def _in_disorder(self, t: float, stacks: Stacks) -> bool:
        """Whether pieces are only missing: nudged, or knocked over and being restored."""
        missing, new = missing_and_new(self.believed, stacks)
        knocked = missing >= self._patience.knocked and missing > new
        if not knocked and (new or not missing):
            return False
        if self._disorder is None or self._disorder.stacks != stacks:
            self._disorder = Waiting(stacks, t)
        return True

    def _mends(self, waiting: Waiting) -> float:
        """For how many seconds what waits may still be mended or go on; accidents for ever."""
        if waiting.begun or waiting.back or waiting.theirs:
            return self._patience.lifted_s
        missing, new = missing_and_new(self.believed, waiting.stacks)
        if not new and missing < self._patience.knocked:
            return self._patience.missing_s
        # Who has put down most of what is gone has meant it.
        return self._patience.lifted_s if 2 * new > missing else math.inf

    def _end(self, t: float) -> list[Event]:
        """The last turn is final, and if that ends the game, the game is over."""
        events = self._book.close(t)
        ended = self._book.ended(t)
        if ended:
            self.phase = "over"
            events += [ended, Event("phase", t, {"phase": "over"})]
        return events

    # --- what people decide ------------------------------------------------------------------

    def start(self, t: float) -> list[Event]:
        """The host begins with the table as it stands, whatever stands there."""
        if self.game.is_start(self._seen):
            return self._begin(t, self._seen)
        events = self._begin(t, self.game.start().stacks)
        first = self.game.players[0]
        self._book.belief = adopted(self.game, self._book.belief, self._seen, first)
        return events

    def pause(self, t: float) -> list[Event]:
        """Anything may be touched until play goes on."""
        if self.phase != "play":
            return []
        self.phase = "paused"
        return [Event("phase", t, {"phase": "paused"})]

    def resume(self, t: float) -> list[Event]:
        """Play goes on if the confirmed position stands again; else what differs is listed."""
        if self.phase != "paused":
            return []
        differing = self.believed.differing(self._seen)
        if differing:
            return [Event("phase", t, {"phase": "paused", "cells": names(differing)})]
        self.phase = "play"
        return [Event("phase", t, {"phase": "play"})]

    def keep(self, t: float) -> list[Event]:
        """The players let the illegal turn stand; it stays marked, and play goes on from it."""
        if self._book.open is None or self._book.open.legal:
            raise RulesError("there is no illegal turn to keep; the last turn is legal or finished")
        self._moments.clear()
        return self._end(t)

    def undo(self, t: float) -> list[Event]:
        """The last turn is taken back; nothing is judged until the table shows that."""
        events = self._book.take_back(t) or self._book.take_back_done(t)
        if not events:
            raise RulesError("there is no turn to take back yet")
        if self.phase == "over":
            self.phase = "play"
        self._moments.clear()
        self._disorder = self._asked = None
        self._awaited = self.confirmed if self._seen != self.confirmed else None
        return events

    def correct(self, t: float, cells: Mapping[Cell, str]) -> list[Event]:
        """The players say what really stands on these cells; it is judged like a scene."""
        stacks = Stacks({**self.believed, **cells})
        event = Event("corrected", t, {"cells": names(sorted(cells))})
        self._seen = stacks
        self._awaited = self._asked = None
        self._moments.clear()
        if self._explaining().innocent(stacks):
            return [event, *self._play(t, stacks)]
        player = self.position.player
        events = self._book.close(t)
        self._book.belief = adopted(self.game, self._book.belief, stacks, player)
        return [*events, event]

    def answer(self, t: float, cells: Mapping[Cell, str]) -> list[Event]:
        """The players' answer to a question: what stands on the cells that were asked about."""
        self._asked = None
        event = Event("answered", t, {"cells": names(sorted(cells))})
        events = [event, *self.observe(t, Stacks({**self._seen, **cells}))]
        self.take_at_their_word()
        return events

    def take_at_their_word(self) -> None:
        """People have said what stands there: no scene until now is told otherwise any more."""
        self._moments.clear()

    def claim(self, t: float, player: str, card: str) -> list[Event]:
        """A player lays a card down; only games with cards know such a turn."""
        return self._spoken(t, Turn(player, (), card))

    def pass_turn(self, t: float, player: str) -> list[Event]:
        """A player says that he passes, which no camera can see."""
        return self._spoken(t, Turn(player))

    def _spoken(self, t: float, turn: Turn) -> list[Event]:
        """A turn that changes nothing on the table; after the end it may change the result."""
        before = self._book.ended(t)
        self._moments.clear()
        events = self._book.speak(t, turn)
        ended = self._book.ended(t)
        if ended and ended != before:
            self.phase = "over"
            return [*events, ended, Event("phase", t, {"phase": "over"})]
        if before and not ended:
            self.phase = "play"
            events.append(Event("phase", t, {"phase": "play"}))
        return events


def _has_more(stacks: Stacks, before: Stacks) -> bool:
    """Whether everything that stood there still does, and nothing but more has come."""
    return all(stacks.get(cell, "").startswith(stack) for cell, stack in before.items())


def _lasts(event: Event) -> bool:
    """Whether what was told of a scene still holds when the next one is played after it.

    Open turns are told anew with it; breaches stay on the record, taken back or not.
    """
    told = event.event not in ("turn", "owed")
    return bool(told or event.data.get("final") or not event.data.get("legal", True))
