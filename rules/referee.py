"""The referee: fed what stood on the table each time it was still, it tells what happened.

It believes in a position before the open turn and explains every scene from there: nothing
changed, a legal turn, a turn that still owes something, two turns at once, an illegal turn, or a
table in disorder, on which it keeps silent until the position stands again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rules.asking import Asking
from rules.book import Book
from rules.cells import Cell
from rules.doubt import Chances
from rules.errors import RulesError
from rules.events import Event, names
from rules.game import Game
from rules.hindsight import Hindsight
from rules.looks import adopted, filled
from rules.patience import Patience
from rules.play import Play
from rules.record import Record
from rules.seats import Seats, across
from rules.stacks import Stacks
from rules.turn import Turn

SOMEBODY_ELSE = ""  # none of the players by name, but not the one who has made the open turn


class Referee:
    """Judges one game after another on one table."""

    def __init__(
        self, game: Game[Any], language: str = "en", patience: Patience | None = None
    ) -> None:
        self.game = game
        book = Book(game, (game.start(),), language)
        self._play = Play(game, patience or Patience(), book)
        self._asking = Asking(self._play)
        self._hindsight = Hindsight(self._play, self._asking)
        self._awaited: Stacks | None = None
        # The positions that turns were looked for from last, and what these make of them.
        self._expected: tuple[list[Any], tuple[Stacks, ...]] = ([], ())
        self._seats = Seats()
        self._made_from: float | None = None  # the hour from which the open turn was made

    @property
    def phase(self) -> str:
        """`setup`, `play`, `paused` or `over`."""
        return self._play.phase

    @property
    def position(self) -> Any:
        """The position believed in, behind the open turn if that is legal."""
        return self._play.book.position

    @property
    def believed(self) -> Stacks:
        """What should stand on the table, be it legal or not."""
        return self._play.believed

    @property
    def confirmed(self) -> Stacks:
        """What stood on the table before the open turn."""
        return self._play.confirmed

    @property
    def record(self) -> Record:
        """The game so far in the contract's form, illegal turns marked."""
        return self._play.book.record()

    def expected(self) -> tuple[Stacks, ...]:
        """Scenes worth looking for: what any legal turn would make of the position."""
        opened = self._play.book.open
        positions = [self.position]
        if opened is not None and not opened.legal:  # it may be kept
            positions += self._play.book.after(opened)[:1]
        before, found = self._expected
        if before != positions:
            turns = (after for where in positions for after in self.game.successors(where))
            found = tuple(dict.fromkeys(after.stacks for after in turns))
            self._expected = positions, found
        return found

    def explains(self, stacks: Stacks) -> bool:
        """Whether this scene would surprise nobody: nothing changed, or what a player may do."""
        if self.phase == "play":
            return self._play.explaining().innocent(stacks)
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
        hidden = frozenset(hidden)
        seen = filled(stacks, self.believed, hidden)
        if seen != self._play.seen:  # a hand that has changed nothing tells nothing
            self._play.hand = None if hand_clock is None else self._whose(hand_clock)
        self._play.seen = seen
        opened = self._play.book.open
        events = self._observed(t, seen, unsure or {}, hidden, doubted or {})
        now = self._play.book.open
        if now is not None and now is not opened:
            self._made_from = hand_clock
            known = now.seen.turn.player
            certain = self._play.hand in (None, known) and (opened is None or now.n <= opened.n + 1)
            if hand_clock is not None and certain:
                self._seats.note(known, hand_clock)
        return events

    def _whose(self, hand_clock: float) -> str | None:
        """Whose hand has come from there; at least another's than that of the open turn."""
        known = self._seats.whose(hand_clock, self.game.players)
        opened = self._play.book.open
        if known is not None or opened is None or self._made_from is None:
            return known
        if not across(hand_clock, self._made_from):
            return None
        mover = opened.seen.turn.player
        others = [player for player in self.game.players if player != mover]
        return others[0] if len(others) == 1 else SOMEBODY_ELSE

    def _observed(
        self, t: float, seen: Stacks, unsure: Chances, hidden: Collection[Cell], doubted: Chances
    ) -> list[Event]:
        if self.phase in ("setup", "over"):
            return self._begin(t, seen) if self.game.is_start(seen) else []
        if self.phase == "paused" or self._awaited not in (None, seen):
            return []
        self._awaited = None
        before = self._asking.unanswered(t, seen)
        chosen = self._asking.chosen(t, seen, unsure, hidden)
        if isinstance(chosen, Event):
            return [*before, chosen]
        if chosen is None:
            return before
        if chosen != seen:
            before += self._asking.went_on(t, chosen)
            self._play.seen = chosen
            self._play.note(t, chosen)
            events = [*before, *self._play.judge(t, chosen)]
            if events:  # else it waits, and whoever is told so would believe what stood before
                events.insert(0, Event("corrected", t, {"cells": names(seen.differing(chosen))}))
            return [*events, *self.tick(t)]
        return [*before, *self._judged(t, chosen, doubted)]

    def _judged(self, t: float, stacks: Stacks, doubted: Chances) -> list[Event]:
        """What follows from a scene that is not doubtful itself."""
        found = self._hindsight.otherwise(t, stacks, doubted)
        return self._play.noted(t, stacks) if found is None else found

    def _begin(self, t: float, stacks: Stacks) -> list[Event]:
        belief = (self.game.start_from(stacks),)
        self._play.book = Book(self.game, belief, self._play.book.language)
        self._play.settled()
        self._awaited = self._play.hand = self._made_from = None
        self._seats = Seats()
        self._play.moments.clear()
        self._play.left.clear()
        self._play.phase = "play"
        return [Event("phase", t, {"phase": "play"})]

    def tick(self, t: float) -> list[Event]:
        """The passing of time with nothing changed."""
        return self._play.tick(t)

    # --- what people decide ------------------------------------------------------------------

    def start(self, t: float) -> list[Event]:
        """The host begins with the table as it stands, whatever stands there."""
        if self.game.is_start(self._play.seen):
            return self._begin(t, self._play.seen)
        events = self._begin(t, self.game.start().stacks)
        first = self.game.players[0]
        self._play.book.belief = adopted(self.game, self._play.book.belief, self._play.seen, first)
        return events

    def pause(self, t: float) -> list[Event]:
        """Anything may be touched until play goes on."""
        if self.phase != "play":
            return []
        self._play.phase = "paused"
        return [Event("phase", t, {"phase": "paused"})]

    def resume(self, t: float) -> list[Event]:
        """Play goes on if the confirmed position stands again; else what differs is listed."""
        if self.phase != "paused":
            return []
        differing = self.believed.differing(self._play.seen)
        if differing:
            return [Event("phase", t, {"phase": "paused", "cells": names(differing)})]
        self._play.phase = "play"
        return [Event("phase", t, {"phase": "play"})]

    def keep(self, t: float) -> list[Event]:
        """The players let the illegal turn stand; it stays marked, and play goes on from it."""
        if self._play.book.open is None or self._play.book.open.legal:
            raise RulesError("there is no illegal turn to keep; the last turn is legal or finished")
        self._play.moments.clear()
        return self._play.end(t)

    def undo(self, t: float) -> list[Event]:
        """The last turn is taken back; nothing is judged until the table shows that."""
        events = self._play.book.take_back(t) or self._play.book.take_back_done(t)
        if not events:
            raise RulesError("there is no turn to take back yet")
        if self.phase == "over":
            self._play.phase = "play"
        self._play.moments.clear()
        self._play.settled()
        self._awaited = self.confirmed if self._play.seen != self.confirmed else None
        return events

    def correct(self, t: float, cells: Mapping[Cell, str]) -> list[Event]:
        """The players say what really stands on these cells; it is judged like a scene."""
        stacks = Stacks({**self.believed, **cells})
        event = Event("corrected", t, {"cells": names(sorted(cells))})
        self._play.seen = stacks
        self._awaited = self._play.asked = None
        self._play.moments.clear()
        if self._play.explaining().innocent(stacks):
            return [event, *self._play.judge(t, stacks)]
        player = self.position.player
        events = self._play.book.close(t)
        self._play.book.belief = adopted(self.game, self._play.book.belief, stacks, player)
        return [*events, event]

    def answer(self, t: float, cells: Mapping[Cell, str]) -> list[Event]:
        """The players' answer to a question: what stands on the cells that were asked about."""
        self._play.asked = None
        event = Event("answered", t, {"cells": names(sorted(cells))})
        events = [event, *self.observe(t, Stacks({**self._play.seen, **cells}))]
        self.take_at_their_word()
        return events

    def take_at_their_word(self) -> None:
        """People have said what stands there: no scene until now is told otherwise any more."""
        self._play.moments.clear()

    def claim(self, t: float, player: str, card: str) -> list[Event]:
        """A player lays a card down; only games with cards know such a turn."""
        return self._spoken(t, Turn(player, (), card))

    def pass_turn(self, t: float, player: str) -> list[Event]:
        """A player says that he passes, which no camera can see."""
        return self._spoken(t, Turn(player))

    def _spoken(self, t: float, turn: Turn) -> list[Event]:
        """A turn that changes nothing on the table; after the end it may change the result."""
        before = self._play.book.ended(t)
        self._play.moments.clear()
        events = self._play.book.speak(t, turn)
        ended = self._play.book.ended(t)
        if ended and ended != before:
            self._play.phase = "over"
            return [*events, ended, Event("phase", t, {"phase": "over"})]
        if before and not ended:
            self._play.phase = "play"
            events.append(Event("phase", t, {"phase": "play"}))
        return events
