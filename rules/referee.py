"""The referee: fed what stood on the table each time it was still, it tells what happened.

It believes in a position before the open turn and explains every scene from there: nothing
changed, a legal turn, a turn that still owes something, two turns at once, an illegal turn, or a
table in disorder, on which it keeps silent until the position stands again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

from rules.book import Book, OpenTurn
from rules.cells import Cell
from rules.errors import RulesError
from rules.events import Event, names
from rules.game import Break, Game
from rules.looks import (
    Belief,
    Look,
    adopted,
    begun_early,
    filled,
    look,
    missing_and_new,
    still_stands,
    two_turns,
    unknown,
    variants,
)
from rules.record import Record
from rules.sentences import sentence
from rules.stacks import Stacks
from rules.turn import Turn


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds and counts before the referee speaks up."""

    missing_s: float = 2.0  # a piece taken off and nothing added: perhaps only nudged (2 to 10)
    revise_s: float = 3.0  # a piece moved on so soon is the same player's second thought (1 to 5)
    bonus_s: float = 20.0  # a last bonus that nobody uses is declined (10 to 60)
    knocked: int = 3  # so many units gone at once are an accident, not a turn
    doubt: float = 0.05  # an explanation this likely beside the best is worth a question
    misread: float = 0.1  # what was doubted as much may be corrected later (0.05 to 0.3)
    most_misread: int = 8  # stacks that are tried for that, one by one and in threes


class Waiting(NamedTuple):
    """What stands there unexplained, and since when: it may be mended, or may go on."""

    stacks: Stacks
    since: float
    begun: bool = False  # a legal turn is in it, and perhaps the beginning of the next one
    fresh: bool = False  # that legal turn comes after the open one


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
        self._asked: Stacks | None = None
        self._awaited: Stacks | None = None

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
            return self._innocent(stacks)
        return self.game.is_start(stacks)

    # --- the scenes --------------------------------------------------------------------------

    def observe(
        self,
        t: float,
        stacks: Stacks,
        unsure: Mapping[Cell, Mapping[str, float]] | None = None,
        hidden: Iterable[Cell] = (),
        doubted: Mapping[Cell, Mapping[str, float]] | None = None,
    ) -> list[Event]:
        """What a scene that stands still means; the same one again is the passing of time.

        `doubted` tells what else could have stood on cells in the scenes before this one.
        """
        seen = filled(stacks, self.believed, hidden)
        self._seen = seen
        if self.phase in ("setup", "over"):
            return self._begin(t, seen) if self.game.is_start(seen) else []
        if self.phase == "paused" or self._awaited not in (None, seen):
            return []
        self._awaited = None
        chosen = self._settle_doubt(t, seen, unsure or {})
        if isinstance(chosen, Event):
            return [chosen]
        if chosen is None:
            return []
        if chosen != seen:
            self._seen = chosen
            events = self._play(t, chosen)
            if events:  # else it waits, and whoever is told so would believe what stood before
                events.insert(0, Event("corrected", t, {"cells": names(seen.differing(chosen))}))
            return [*events, *self.tick(t)]
        found = self._otherwise(t, chosen, doubted or {})
        return [*self._play(t, chosen), *self.tick(t)] if found is None else found

    def tick(self, t: float) -> list[Event]:
        """The passing of time with nothing changed."""
        if self.phase != "play":
            return []
        waiting = self._disorder
        if waiting and t - waiting.since >= self._patience.missing_s:
            missing, new = missing_and_new(self.believed, waiting.stacks)
            if waiting.begun and waiting.stacks == self._seen:
                return self._taken_along(t, waiting)
            if waiting.stacks == self._seen and missing < self._patience.knocked and not new:
                return self._illegal(t, waiting.stacks)
        opened = self._book.open
        if opened and opened.legal and t - opened.t >= self._patience.bonus_s:
            bonus = any(owed.what == "bonus" for owed in opened.seen.owed)
            return self._end(t) if bonus else []
        return []

    def _begin(self, t: float, stacks: Stacks) -> list[Event]:
        belief = (self.game.start_from(stacks),)
        self._book = Book(self.game, belief, self._book.language)
        self._disorder = self._asked = self._awaited = None
        self.phase = "play"
        return [Event("phase", t, {"phase": "play"})]

    def _settle_doubt(
        self, t: float, seen: Stacks, unsure: Mapping[Cell, Mapping[str, float]]
    ) -> Stacks | Event | None:
        """The scene to judge; a question where the verdict depends on the doubt.

        Who plays on and leaves the question open has seen nothing wrong.
        """
        if not unsure or self._innocent(seen):
            return seen
        others = [
            stacks
            for stacks, weight in variants(seen, unsure)
            if weight >= self._patience.doubt and stacks != seen and self._innocent(stacks)
        ]
        if not others:
            return seen
        cells = sorted({cell for stacks in others for cell in seen.differing(stacks)})
        if self._plays_on(seen, cells):
            return others[0]
        asked = self._ask(t, seen, cells, others)
        return asked[0] if asked else None

    def _plays_on(self, seen: Stacks, cells: Sequence[Cell]) -> bool:
        """Whether more has come beside what was asked about, and nothing of it was taken back."""
        if self._asked is None:
            return False
        changed = {*self._asked.differing(seen)} - {*cells}
        return bool(changed) and changed.isdisjoint(self.believed.differing(self._asked))

    def _ask(
        self, t: float, seen: Stacks, cells: Sequence[Cell], others: Sequence[Stacks]
    ) -> list[Event]:
        """The question what stands on these cells, once a scene."""
        if self._asked == seen:
            return []
        self._asked = seen
        choices = {
            str(cell): list(dict.fromkeys(s.get(cell, "") for s in (seen, *others)))
            for cell in cells
        }
        say = sentence("shared.unsure", self._book.language, cells)
        return [Event("ask", t, {"cells": names(cells), "choices": choices, "say": say})]

    def _otherwise(
        self, t: float, stacks: Stacks, doubted: Mapping[Cell, Mapping[str, float]]
    ) -> list[Event] | None:
        """What follows where things were not as they seemed before; None where they were."""
        if events := self._whole_turn(t, stacks, doubted):
            return events
        if self._innocent(stacks) or self._explained(t, stacks)[0]:
            return None
        if stacks == self._asked:
            return self.tick(t)  # the question stands until it is answered, or play goes on
        return self._kept_before(t, stacks) or self._found_back(t, stacks, doubted)

    def _found_back(
        self, t: float, stacks: Stacks, doubted: Mapping[Cell, Mapping[str, float]]
    ) -> list[Event] | None:
        """What follows where an earlier scene was misread; None where that explains nothing.

        The fewest cells are corrected with which this scene is a legal turn. Where this scene
        shows what was in doubt before, and still nothing explains it, the players are asked.
        """
        other = {
            cell: [s for s, chance in choices.items() if chance >= self._patience.misread]
            for cell, choices in doubted.items()
        }
        now = self.believed
        for cells, stays, belief in self._corrections(other, stacks):
            events = self._book.close(t) if stays else self._book.take_back(t)
            self._book.belief = belief
            self._disorder = self._asked = None
            events.append(Event("corrected", t, {"cells": names(cells)}))
            return [*events, *self._play(t, stacks)]
        differing = sorted(
            cell for cell in now.differing(stacks) if stacks.get(cell, "") in other.get(cell, ())
        )
        if not differing:
            return None
        return self._ask(t, stacks, differing, [now])

    def _whole_turn(
        self, t: float, stacks: Stacks, doubted: Mapping[Cell, Mapping[str, float]]
    ) -> list[Event]:
        """What follows if the open turn was finished, and what seemed to be owed was not seen."""
        book, opened = self._book, self._book.open
        if (
            opened is None
            or opened.seen.kind != "owed"
            or look(self.game, book.belief, stacks).fine
        ):
            return []
        likely = sorted(
            (-chance, cell, stack)
            for cell, choices in doubted.items()
            for stack, chance in choices.items()
            if chance >= self._patience.misread
            and stacks.get(cell, "") == opened.stacks.get(cell, "")
        )
        for _, cell, stack in likely:
            whole = opened.stacks.with_stack(cell, stack)
            seen = look(self.game, book.belief, whole)
            now = stacks.with_stack(cell, stack)
            if seen.kind != "legal" or not look(self.game, seen.after, now).fine:
                continue
            self._disorder = self._asked = None
            self._seen = now
            events = book.make(t, seen, whole)
            events.append(Event("corrected", t, {"cells": names([cell])}))
            return [*events, *self._play(t, now)]
        return []

    def _corrections(
        self, other: Mapping[Cell, Sequence[str]], stacks: Stacks
    ) -> Iterator[tuple[list[Cell], bool, Belief]]:
        """Beliefs that differ in doubted cells and from which a legal turn leads to this scene.

        And whether the open turn has really been made, as far as anybody knows.
        """
        book = self._book
        bases = [(False, book.belief)]
        if book.open is not None and book.open.legal:
            bases.insert(0, (True, book.after(book.open)))
        now = self.believed
        choices = [
            (cell, stack)
            for cell, found in sorted(other.items())
            for stack in found
            if stack != now.get(cell, "")
        ][: self._patience.most_misread]
        first = self.position.player
        players = sorted(self.game.players, key=lambda player: player != first)
        for count in range(1, 4):
            for picked in combinations(choices, count):
                cells = dict(picked)
                if len(cells) < count:
                    continue
                for stays, base in bases:
                    before = Stacks({**base[0].stacks, **cells})
                    for player in players:
                        belief = adopted(self.game, base, before, player)
                        if belief and look(self.game, belief, stacks).kind == "legal":
                            yield sorted(cells), stays, belief

    def _innocent(self, stacks: Stacks) -> bool:
        """Whether nobody has done anything wrong if this is what stands there."""
        if stacks in (self.confirmed, self.believed):
            return True
        if look(self.game, self._book.belief, stacks).fine:
            return True
        return self._book.open is not None and self._following(self._book.open, stacks) is not None

    # --- turns -------------------------------------------------------------------------------

    def _play(self, t: float, stacks: Stacks) -> list[Event]:
        book = self._book
        if stacks == self.believed or (stacks == self.confirmed and not self._lifted(t, stacks)):
            self._disorder = self._asked = None
            return book.take_back(t) if stacks == self.confirmed else []
        looks, fresh = self._explained(t, stacks)
        if self._begins(looks):
            if self._disorder is None or self._disorder.stacks != stacks:
                self._disorder = Waiting(stacks, t, begun=True, fresh=fresh)
            return []
        if not looks:
            if events := self._book.take_back_to(t, stacks):
                self._disorder = self._asked = None
                return events
            return [] if self._in_disorder(t, stacks) else self._illegal(t, stacks)
        self._disorder = self._asked = None
        events = []
        for i, seen in enumerate(looks):
            if i or fresh:
                events += book.close(t)
            whole = i == len(looks) - 1 and not (seen.kind == "legal" and unknown(stacks))
            events += book.make(t, seen, stacks if whole else seen.after[0].stacks)
            if seen.kind == "legal" and not seen.owed and book.ended(t):
                return events + self._end(t)
        return events

    def _begins(self, looks: Sequence[Look]) -> bool:
        """Whether these are a legal turn and, in the same look, a piece taken off besides.

        That may be the beginning of the next player's turn, or part of the first one, which is
        illegal then; what comes next will tell.
        """
        if len(looks) < 2 or not looks[-1].turn.changes:
            return False
        return all(not change.add for change in looks[-1].turn.changes)

    def _kept_before(self, t: float, stacks: Stacks) -> list[Event]:
        """What follows if that which waited was an illegal turn, let stand by a legal one now."""
        waiting = self._disorder
        if waiting is None or not waiting.begun:
            return []
        base = self._before(waiting)
        player = self.game.next_player(base[0], self._blamed(base, waiting.stacks).turn)
        belief = adopted(self.game, base, waiting.stacks, player)
        if not belief or not look(self.game, belief, stacks).fine:
            return []
        events = self._taken_along(t, waiting)
        events += self._book.close(t)
        return [*events, *self._play(t, stacks)]

    def _taken_along(self, t: float, waiting: Waiting) -> list[Event]:
        """The turn that waited as one illegal turn, with all that is gone."""
        wrong = self._blamed(self._before(waiting), waiting.stacks)
        self._disorder = self._asked = None
        events = self._book.close(t) if waiting.fresh else []
        return [*events, *self._book.make(t, wrong, waiting.stacks)]

    def _before(self, waiting: Waiting) -> Belief:
        """The belief before the turn that waited."""
        opened = self._book.open
        if waiting.fresh and opened is not None:
            return self._book.after(opened)
        return self._book.belief

    def _lifted(self, t: float, stacks: Stacks) -> bool:
        """Whether the piece just placed is now in the hand of the next player, who may move it."""
        opened = self._book.open
        if opened is None or not opened.legal or t - opened.t < self._patience.revise_s:
            return False
        return look(self.game, self._book.after(opened), stacks).fine

    def _explained(self, t: float, stacks: Stacks) -> tuple[tuple[Look, ...], bool]:
        """One or two turns that nobody can complain about, and whether a new one begins."""
        belief, opened = self._book.belief, self._book.open
        same = look(self.game, belief, stacks)
        if opened and not (same.fine and self._second_thought(opened, stacks, t)):
            following = self._following(opened, stacks)
            if following:
                return following, True
        if same.fine:
            return (same,), False
        if opened and opened.legal and t - opened.t >= self._patience.revise_s:
            return (), False  # it has been made, and is not made anew with what came later
        return two_turns(self.game, belief, stacks, self._passing()) or (), False

    def _second_thought(self, opened: OpenTurn, stacks: Stacks, t: float) -> bool:
        """Whether the open turn is being changed by the player who made it."""
        if not opened.legal or opened.seen.owed:
            return True
        stands = still_stands(self.confirmed, opened.stacks, stacks)
        return not stands and t - opened.t < self._patience.revise_s

    def _following(self, opened: OpenTurn, stacks: Stacks) -> tuple[Look, ...] | None:
        """One or two turns after the open one that explain the scene."""
        if self._comes_down(opened, stacks):
            return None
        after = self._book.after(opened)
        found = look(self.game, after, stacks)
        return (found,) if found.fine else two_turns(self.game, after, stacks, self._passing())

    def _passing(self) -> Stacks | None:
        """What was seen on the way to a whole turn: in disorder, or not finished."""
        if self._disorder:
            return self._disorder.stacks
        opened = self._book.open
        return opened.stacks if opened is not None and opened.seen.kind == "owed" else None

    def _comes_down(self, opened: OpenTurn, stacks: Stacks) -> bool:
        """Whether for a piece that was taken off one now stands elsewhere: the same turn."""
        before, lifted, now = (
            sum(map(len, scene.values())) for scene in (self.confirmed, opened.stacks, stacks)
        )
        return opened.seen.kind == "owed" and lifted < before == now

    def _illegal(self, t: float, stacks: Stacks) -> list[Event]:
        """A change that is part of no legal turn, of whichever player it blames least."""
        book, opened = self._book, self._book.open
        events: list[Event] = []
        looks = self._accused(book.belief, stacks)
        made = opened and opened.legal and t - opened.t >= self._patience.revise_s
        if opened and (made or still_stands(self.confirmed, opened.stacks, stacks)):
            later = self._accused(book.after(opened), stacks)
            if self._another_acts(t, opened, stacks, later[-1], looks[-1]):
                events = book.close(t)
                looks = later
        self._disorder = self._asked = None
        if len(looks) > 1:
            events += book.make(t, looks[0], looks[0].after[0].stacks)
            events += book.close(t)
        return [*events, *book.make(t, looks[-1], stacks)]

    def _another_acts(
        self, t: float, opened: OpenTurn, stacks: Stacks, later: Look, same: Look
    ) -> bool:
        """Whether a breach after the open turn is another player's, not part of the same turn.

        Whose colour came down tells where nothing else does.
        """
        before = dict(opened.stacks.units())
        new = {letter for unit, letter in stacks.units() if before.get(unit) != letter}
        mover, next_one = opened.seen.turn.player, later.turn.player
        if opened.legal:
            soon = t - opened.t < self._patience.revise_s
            moved = not still_stands(self.confirmed, opened.stacks, stacks)
            return not ((soon or moved) and new == {mover} and next_one != mover)
        if opened.seen.kind == "owed":  # who has not finished his turn goes on with it
            return False
        if next_one != mover and new in ({mover}, {next_one}):
            return new == {next_one}
        return len(later.breaks) < len(same.breaks)

    def _accused(self, belief: Belief, stacks: Stacks) -> tuple[Look, ...]:
        """The illegal turn, or a legal one and the next player's illegal one if that is less."""
        found: tuple[Look, ...] = (self._blamed(belief, stacks),)
        for turn in self.game.first_of_two(belief[0], stacks):
            verdict = self.game.judge(belief[0], turn)
            if verdict.legal and verdict.after is not None:
                if not still_stands(belief[0].stacks, verdict.after.stacks, stacks):
                    continue  # what nobody saw standing was not there
                passing = self._passing()
                if passing is not None and begun_early(
                    belief[0].stacks, verdict.after.stacks, stacks, passing
                ):
                    continue
                first = Look("legal", turn, (), verdict.owed, (verdict.after,))
                second = self._blamed(first.after, stacks)
                if second.turn.changes and len(second.breaks) < len(found[-1].breaks):
                    found = (first, second)
        return found

    def _blamed(self, belief: Belief, stacks: Stacks) -> Look:
        """The illegal look, without reasons that the rest of the turn may still mend."""
        seen = look(self.game, belief, stacks)
        mendable = {f"{self.game.spec.name}.{slug}" for slug in self.game.spec.mendable}
        told = tuple(b for b in seen.breaks if b.rule not in mendable) or seen.breaks
        if not told:
            told = (Break("shared.unexplained", tuple(belief[0].stacks.differing(stacks))),)
        return replace(seen, kind="illegal", breaks=told)

    def _in_disorder(self, t: float, stacks: Stacks) -> bool:
        """Whether pieces are only missing: nudged, or knocked over and being restored."""
        missing, new = missing_and_new(self.believed, stacks)
        knocked = missing >= self._patience.knocked and missing > new
        if not knocked and (new or not missing):
            return False
        if self._disorder is None or self._disorder.stacks != stacks:
            self._disorder = Waiting(stacks, t)
        return True

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
        return self._end(t)

    def undo(self, t: float) -> list[Event]:
        """The last turn is taken back; nothing is judged until the table shows that."""
        events = self._book.take_back(t) or self._book.take_back_done(t)
        if not events:
            raise RulesError("there is no turn to take back yet")
        if self.phase == "over":
            self.phase = "play"
        self._disorder = self._asked = None
        self._awaited = self.confirmed if self._seen != self.confirmed else None
        return events

    def correct(self, t: float, cells: Mapping[Cell, str]) -> list[Event]:
        """The players say what really stands on these cells; it is judged like a scene."""
        stacks = Stacks({**self.believed, **cells})
        event = Event("corrected", t, {"cells": names(sorted(cells))})
        self._seen = stacks
        self._awaited = self._asked = None
        if self._innocent(stacks):
            return [event, *self._play(t, stacks)]
        player = self.position.player
        events = self._book.close(t)
        self._book.belief = adopted(self.game, self._book.belief, stacks, player)
        return [*events, event]

    def answer(self, t: float, cells: Mapping[Cell, str]) -> list[Event]:
        """The players' answer to a question: what stands on the cells that were asked about."""
        self._asked = None
        event = Event("answered", t, {"cells": names(sorted(cells))})
        return [event, *self.observe(t, Stacks({**self._seen, **cells}))]

    def claim(self, t: float, player: str, card: str) -> list[Event]:
        """A player lays a card down; only games with cards know such a turn."""
        return self._spoken(t, Turn(player, (), card))

    def pass_turn(self, t: float, player: str) -> list[Event]:
        """A player says that he passes, which no camera can see."""
        return self._spoken(t, Turn(player))

    def _spoken(self, t: float, turn: Turn) -> list[Event]:
        """A turn that changes nothing on the table; after the end it may change the result."""
        before = self._book.ended(t)
        events = self._book.speak(t, turn)
        ended = self._book.ended(t)
        if ended and ended != before:
            self.phase = "over"
            return [*events, ended, Event("phase", t, {"phase": "over"})]
        if before and not ended:
            self.phase = "play"
            events.append(Event("phase", t, {"phase": "play"}))
        return events
