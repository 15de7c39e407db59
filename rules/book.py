"""The book: the position believed in, the turn that is being made, and the turns that are done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rules.events import Event, outcome_event, owed_event, turn_event
from rules.game import Game, Owed
from rules.looks import Belief, Look, adopted, still_stands
from rules.record import Record, TurnLine
from rules.stacks import Stacks
from rules.turn import Turn


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """The turn that is being made: what it looks like so far, and what stands on the table."""

    n: int
    seen: Look
    stacks: Stacks
    t: float

    @property
    def legal(self) -> bool:
        """Whether it could end here."""
        return self.seen.kind == "legal"


@dataclass(frozen=True, slots=True)
class DoneTurn:
    """A turn of the record, with the belief before it."""

    n: int
    turn: Turn
    before: Belief
    legal: bool
    kept: bool


class Book:
    """One game from its start position on; every change of it returns the events to tell."""

    def __init__(self, game: Game[Any], belief: Belief, language: str) -> None:
        self.game = game
        self.language = language
        self.belief = belief
        self.open: OpenTurn | None = None
        self.done: list[DoneTurn] = []
        self.n = 0

    def copy(self) -> Book:
        """The same book on its own."""
        twin = Book(self.game, self.belief, self.language)
        twin.open, twin.done, twin.n = self.open, [*self.done], self.n
        return twin

    def breaches(self) -> set[tuple[str, tuple[str, ...]]]:
        """Who has done what in the turns that were told as illegal, in whichever order.

        Be they kept, taken back or open.
        """
        turns = [done.turn for done in self.done if not done.legal]
        if self.open is not None and self.open.seen.kind == "illegal":
            turns.append(self.open.seen.turn)
        return {(turn.player, tuple(sorted(map(str, turn.changes)))) for turn in turns}

    def legal_turns(self) -> dict[int, Turn]:
        """The turns that nobody had a reason to complain of, by their numbers, the open one too."""
        found = {done.n: done.turn for done in self.done if done.legal}
        if self.open is not None and self.open.legal:
            found[self.open.n] = self.open.seen.turn
        return found

    def tells_again(self, earlier: Book) -> bool:
        """Whether every legal turn of another book is here: its number, its player, and more."""
        now = self.legal_turns()
        return all(
            n in now and now[n].player == turn.player and {*turn.changes} <= {*now[n].changes}
            for n, turn in earlier.legal_turns().items()
        )

    @property
    def stacks(self) -> Stacks:
        """What stood on the table before the open turn."""
        stacks: Stacks = self.belief[0].stacks
        return stacks

    @property
    def standing(self) -> Stacks:
        """What stands on the table now, be it legal or not."""
        return self.open.stacks if self.open else self.stacks

    @property
    def position(self) -> Any:
        """The position believed in, behind the open turn if that is legal."""
        return (self.open.seen.after if self.open and self.open.legal else self.belief)[0]

    def record(self) -> Record:
        """The game so far in the contract's form, illegal turns marked."""
        lines = [TurnLine(done.turn, done.kept) for done in self.done]
        if self.open and self.open.legal:
            lines.append(TurnLine(self.open.seen.turn))
        return Record(self.game.spec, self.game.setup, tuple(lines))

    def after(self, opened: OpenTurn) -> Belief:
        """The belief behind the open turn; an illegal or unfinished one is taken as it stands."""
        if opened.legal:
            return opened.seen.after
        player = self.game.next_player(self.belief[0], opened.seen.turn)
        return adopted(self.game, self.belief, opened.stacks, player)

    def make(self, t: float, seen: Look, stacks: Stacks) -> list[Event]:
        """A turn is made, changed or continued: legal so far, owing something, or illegal."""
        events = self._replaced(t, stacks)
        n = self.open.n if self.open else self.n
        self.open = OpenTurn(n, seen, stacks, t)
        if seen.kind == "owed":
            # an unfinished turn that can go on in several ways owes just something
            debts = seen.owed or (Owed(seen.turn.player, "relocate", ()),)
            return [*events, *(owed_event(t, n, owed) for owed in debts)]
        counted = seen.after[0] if self.open.legal else self.belief[0]
        events.append(self._told(t, self.open, counted, final=False))
        return [*events, *(owed_event(t, n, owed) for owed in seen.owed)]

    def _replaced(self, t: float, stacks: Stacks) -> list[Event]:
        """A new number unless the open turn goes on; an illegal one that was undone is noted."""
        opened = self.open
        if opened and opened.seen.kind == "illegal":
            if still_stands(self.stacks, opened.stacks, stacks):
                return []
            events = self.take_back(t)
            self.n += 1
            return events
        if not opened:
            self.n += 1
        return []

    def close(self, t: float) -> list[Event]:
        """The open turn is final: the next player has acted, or it is kept, or the game is over."""
        opened = self.open
        if opened is None:
            return []
        after = self.after(opened)
        self._note(opened, kept=not opened.legal)
        events = [self._told(t, opened, after[0], final=True)]
        if not opened.legal:
            events.append(Event("kept", t, {"n": opened.n}))
        self.belief = after
        self.open = None
        return events

    def take_back(self, t: float) -> list[Event]:
        """The open turn was undone on the table; an illegal one stays in the record."""
        opened = self.open
        if opened is None:
            return []
        self.open = None
        if opened.seen.kind == "illegal":
            self._note(opened, kept=False)
        else:
            self.n -= 1
        return [Event("taken-back", t, {"n": opened.n})]

    def take_back_to(self, t: float, stacks: Stacks) -> list[Event]:
        """What stood before illegal turns that were kept stands again; else nothing is told.

        The legal turn before an illegal one may go with it: both were one player's doing.
        """
        gone: list[int] = []
        accused = self.open is not None and self.open.seen.kind == "illegal"
        for i in range(len(self.done) - 1, -1, -1):
            done = self.done[i]
            if not (done.legal or done.kept):
                continue  # it was taken back before
            if done.legal and (gone or not accused):
                return []
            gone.append(i)
            if done.before[0].stacks == stacks:
                break
            if done.legal:
                return []
        else:
            return []
        events = self.take_back(t)
        for i in gone:
            done = self.done[i]
            self.belief = done.before
            events.append(Event("taken-back", t, {"n": done.n}))
            if done.legal:
                del self.done[i]
            else:
                self.done[i] = replace(done, kept=False)
        return events

    def take_back_done(self, t: float) -> list[Event]:
        """The last finished turn is undone; nothing where there is none."""
        while self.done and not (self.done[-1].legal or self.done[-1].kept):
            self.done.pop()
        if not self.done:
            return []
        last = self.done.pop()
        self.belief = last.before
        self.n = last.n if last.turn.claim else last.n - 1  # a card shares the number of a turn
        return [Event("taken-back", t, {"n": last.n})]

    def speak(self, t: float, turn: Turn) -> list[Event]:
        """A claim or a pass: a turn that changes nothing on the table."""
        events = self.close(t) if self.open and self.open.legal else []
        verdict = self.game.judge(self.belief[0], turn)
        if not turn.claim:
            self.n += 1
        if verdict.legal:
            self.done.append(DoneTurn(self.n, turn, self.belief, legal=True, kept=False))
            self.belief = (verdict.after,)
        elif not turn.claim:
            self.done.append(DoneTurn(self.n, turn, self.belief, legal=False, kept=False))
        told = turn_event(
            t,
            self.n,
            turn,
            verdict.breaks,
            final=True,
            score=self.game.score(self.belief[0]),
            stacks=self.stacks,
            language=self.language,
        )
        return [*events, told]

    def ended(self, t: float) -> Event | None:
        """The end of the game at the position believed in, if it is one."""
        return outcome_event(t, self.game, self.position, self.language)

    def _note(self, opened: OpenTurn, *, kept: bool) -> None:
        self.done.append(DoneTurn(opened.n, opened.seen.turn, self.belief, opened.legal, kept))

    def _told(self, t: float, opened: OpenTurn, counted: Any, *, final: bool) -> Event:
        """The turn, with the score of the position that counts."""
        seen = opened.seen
        return turn_event(
            t,
            opened.n,
            seen.turn,
            seen.breaks,
            final=final,
            score=self.game.score(counted),
            stacks=opened.stacks,
            language=self.language,
        )
