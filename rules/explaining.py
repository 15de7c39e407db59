"""Explaining: which turns lead from what was believed to what stands there, and whose they are.

Nothing is told or changed here; a scene has the same explanation as long as the book stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from rules.book import Book, OpenTurn
from rules.game import Break
from rules.looks import Belief, Look, begun_early, look, spellings, still_stands, two_turns
from rules.stacks import Stacks


class Found(NamedTuple):
    """One turn or two, and whether the first of them comes after the open one."""

    looks: tuple[Look, ...]
    fresh: bool

    @property
    def goes_on(self) -> bool:
        """Whether a legal turn was made and, in the same look, a piece taken off besides.

        That may be the beginning of the next player's turn, or part of the first one, which is
        illegal then; what comes next will tell.
        """
        if len(self.looks) < 2 or not self.looks[-1].turn.changes:
            return False
        return all(not change.add for change in self.looks[-1].turn.changes)


@dataclass(frozen=True, slots=True)
class Explaining:
    """How a scene is explained at one moment of a game."""

    book: Book
    t: float
    passing: Stacks | None  # seen on the way to a whole turn: in disorder, or not finished
    hand: str | None  # the player who has reached in, if that is known
    revise_s: float  # a piece moved on so soon is the same player's second thought

    def innocent(self, stacks: Stacks) -> bool:
        """Whether nobody has done anything wrong if this is what stands there."""
        book = self.book
        if stacks in (book.stacks, book.standing):
            return True
        if look(book.game, book.belief, stacks).fine:
            return True
        return book.open is not None and self._following(book.open, stacks) is not None

    def fine(self, stacks: Stacks) -> Found:
        """One or two turns that nobody can complain about; none where there are none."""
        belief, opened = self.book.belief, self.book.open
        same = look(self.book.game, belief, stacks)
        goes_on = opened and self._puts_down(opened, stacks)
        owing = opened is not None and opened.seen.kind == "owed" and not same.fine
        if owing and (both := two_turns(self.book.game, belief, stacks, self.passing)):
            # Who has finished his turn before the next one played is not blamed for owing.
            return Found(both, fresh=False)
        if opened and not goes_on and not (same.fine and self._second_thought(opened, stacks)):
            following = self._following(opened, stacks)
            if following:
                return Found(following, fresh=True)
        if same.fine and not (opened and self._overturned(opened, stacks)):
            return Found((same,), fresh=False)
        if opened and self._made(opened):
            return Found((), fresh=False)  # and is not made anew with what came later
        both = two_turns(self.book.game, belief, stacks, self.passing)
        return Found(both or (), fresh=False)

    def wrong(self, stacks: Stacks) -> Found:
        """The illegal turn, of whichever player it blames least; maybe after a legal one."""
        book, opened = self.book, self.book.open
        looks = self._accused(book.belief, stacks)
        if opened and self._puts_down(opened, stacks):
            return Found(looks, fresh=False)
        stands = opened and still_stands(book.stacks, opened.stacks, stacks)
        if opened and (stands or self._made(opened) or self._others(opened)):
            later = self._accused(book.after(opened), stacks)
            if self._another_acts(opened, stacks, later[-1], looks[-1]):
                return Found(later, fresh=True)
        return Found(looks, fresh=False)

    def spelled(self, stacks: Stacks) -> Stacks:
        """The scene with colours for units that nobody can see, as they blame somebody least.

        Nobody is blamed for a colour of single cubes; long pieces must have some colour.
        """
        spec = self.book.game.spec
        ways = [(self._blame(way), way) for way in spellings(stacks, spec.colours)]
        least = min(blame for blame, _ in ways)
        best = [way for blame, way in ways if blame == least]
        long = any(max(extent) > 1 for kit in spec.kit for extent in kit.shape.extents)
        return best[0] if long or (not least and len(best) == 1) else stacks

    def _blame(self, stacks: Stacks) -> int:
        if self.fine(stacks).looks:
            return 0
        return sum(len(found.breaks) for found in self.wrong(stacks).looks)

    def lifted(self, stacks: Stacks) -> bool:
        """Whether the piece just placed is now in the hand of the next player, who may move it."""
        opened = self.book.open
        if opened is None or not opened.legal or self.hand == opened.seen.turn.player:
            return False
        if not (self._made(opened) or self._others(opened)):
            return False
        return look(self.book.game, self.book.after(opened), stacks).fine

    def blamed(self, belief: Belief, stacks: Stacks) -> Look:
        """The illegal look, without reasons that the rest of the turn may still mend."""
        game = self.book.game
        seen = self._in_order(belief, look(game, belief, stacks))
        mendable = {f"{game.spec.name}.{slug}" for slug in game.spec.mendable}
        told = tuple(b for b in seen.breaks if b.rule not in mendable) or seen.breaks
        if not told:
            told = (Break("shared.unexplained", tuple(belief[0].stacks.differing(stacks))),)
        return replace(seen, kind="illegal", breaks=told)

    def _in_order(self, belief: Belief, seen: Look) -> Look:
        """The same turn, with what stood there sooner first: what came later is one too many."""
        opened = self.book.open
        if opened is None or belief != self.book.belief:
            return seen
        sooner, later = opened.seen.turn.changes, list(seen.turn.changes)
        for change in sooner:
            if change not in later:
                return seen
            later.remove(change)
        turn = seen.turn._replace(changes=(*sooner, *later))
        verdicts = [self.book.game.judge(position, turn) for position in belief]
        told = min(verdicts, key=lambda verdict: len(verdict.breaks))
        if not told.breaks or len(told.breaks) > len(seen.breaks):
            return seen
        return replace(seen, turn=turn, breaks=told.breaks)

    def _made(self, opened: OpenTurn) -> bool:
        """Whether a turn is legal and has stood too long for a second thought."""
        return opened.legal and self.t - opened.t >= self.revise_s

    def _others(self, opened: OpenTurn) -> bool:
        """Whether it is known that somebody else has reached in than whoever made the turn."""
        return self.hand is not None and self.hand != opened.seen.turn.player

    def _overturned(self, opened: OpenTurn, stacks: Stacks) -> bool:
        """Whether another has changed a finished turn, or added to it, and not its player."""
        if not opened.legal or stacks == self.book.stacks:
            return False
        mover = opened.seen.turn.player
        before = dict(opened.stacks.units())
        own = any(letter == mover and before.get(unit) != letter for unit, letter in stacks.units())
        if opened.seen.owed or still_stands(self.book.stacks, opened.stacks, stacks):
            return self._others(opened) and not own
        late = self._made(opened) and self.hand is None and not own
        return late or self._others(opened)

    def _second_thought(self, opened: OpenTurn, stacks: Stacks) -> bool:
        """Whether the open turn is being changed by the player who made it."""
        if opened.seen.kind != "legal" or opened.seen.owed:
            return not (opened.seen.kind == "illegal" and self._others(opened))
        if self._others(opened):
            return False
        return not (self._made(opened) or still_stands(self.book.stacks, opened.stacks, stacks))

    def _following(self, opened: OpenTurn, stacks: Stacks) -> tuple[Look, ...] | None:
        """One or two turns after the open one that explain the scene."""
        if self._comes_down(opened, stacks):
            return None
        after = self.book.after(opened)
        found = look(self.book.game, after, stacks)
        return (found,) if found.fine else two_turns(self.book.game, after, stacks, self.passing)

    def _puts_down(self, opened: OpenTurn, stacks: Stacks) -> bool:
        """Whether who has wrongly taken something off now puts something down: the same turn.

        It is told soon that a piece is missing; whoever holds it may think for longer.
        """
        turn = opened.seen.turn
        if opened.seen.kind != "illegal" or any(change.add for change in turn.changes):
            return False
        if sum(map(len, stacks.values())) <= sum(map(len, opened.stacks.values())):
            return False
        if self.hand is not None:
            return self.hand == turn.player
        before = dict(opened.stacks.units())
        new = {letter for unit, letter in stacks.units() if before.get(unit) != letter}
        others = new & {*self.book.game.spec.players} - {turn.player}
        return self.t - opened.t < self.revise_s and not others

    def _comes_down(self, opened: OpenTurn, stacks: Stacks) -> bool:
        """Whether for a piece that was taken off one now stands elsewhere: the same turn."""
        before, lifted, now = (
            sum(map(len, scene.values())) for scene in (self.book.stacks, opened.stacks, stacks)
        )
        return opened.seen.kind == "owed" and lifted < before == now

    def _accused(self, belief: Belief, stacks: Stacks) -> tuple[Look, ...]:
        """The illegal turn, or a legal one and the next player's illegal one if that is less."""
        found: tuple[Look, ...] = (self.blamed(belief, stacks),)
        before, passing = belief[0].stacks, self.passing
        for turn in self.book.game.first_of_two(belief[0], stacks):
            if turn.player == self.hand:
                break  # nobody else was there
            verdict = self.book.game.judge(belief[0], turn)
            if not verdict.legal or verdict.after is None:
                continue
            if not still_stands(before, verdict.after.stacks, stacks):
                continue  # what nobody saw standing was not there
            if passing is not None and begun_early(before, verdict.after.stacks, stacks, passing):
                continue
            first = Look("legal", turn, (), verdict.owed, (verdict.after,))
            second = self.blamed(first.after, stacks)
            if second.turn.changes and len(second.breaks) < len(found[-1].breaks):
                found = (first, second)
        return found

    def _another_acts(self, opened: OpenTurn, stacks: Stacks, later: Look, same: Look) -> bool:
        """Whether a breach after the open turn is another player's, not part of the same turn.

        Whose colour came down tells where nothing else does.
        """
        before = dict(opened.stacks.units())
        new = {letter for unit, letter in stacks.units() if before.get(unit) != letter}
        mover, next_one = opened.seen.turn.player, later.turn.player
        if opened.seen.kind != "owed" and self._others(opened):
            return True
        if opened.legal:
            moved = not still_stands(self.book.stacks, opened.stacks, stacks)
            his = moved or not self._made(opened) or self.hand == mover
            return not (his and new == {mover} and next_one != mover)
        if opened.seen.kind == "owed":  # who has not finished his turn goes on with it
            return False
        if self.hand == mover:
            return False
        if next_one != mover and new in ({mover}, {next_one}):
            return new == {next_one}
        stood = self.t - opened.t >= self.revise_s
        return stood or len(later.breaks) < len(same.breaks)
