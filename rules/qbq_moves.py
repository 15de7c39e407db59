"""What may move in QBQ: sources and targets in sets of cells, for generating and completing turns.

This is the quick half of the rules; `qbq_breaks` says in words what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules.qbq_board import CUBES, Geometry, QbqPosition, View, bits

Sources = list[tuple[int, int]]  # each cell with a movable cube, and the cells it may go to


@dataclass(frozen=True, slots=True)
class Movement:
    """The rules of moving as this table has them."""

    geometry: Geometry
    crossing: bool  # after an insertion a cube may change its group (crossGroupAfterInsert)
    counting: bool  # a bridge may go wherever groups do not become more (bridge = count)
    whole_line: bool  # everything in the direction of the fall counts (fallLine = whole)
    own_blocks: bool  # own stacks stop a fall, too (ownStackBlocks)

    # --- relocating --------------------------------------------------------------------------

    def relocations(self, view: View, *, inserted: bool = False, only: int = -1) -> Sources:
        """Every own cube (among those asked for) that may be relocated, and where to."""
        geometry = self.geometry
        own, deep, high, foreign, _ = view
        empty = geometry.all & ~(own | foreign)
        anywhere = inserted and self.crossing
        found: Sources = []
        for home in geometry.groups(own):
            if not home & only:
                continue
            near = home | geometry.beside(home) & empty
            for src in bits(home & only):
                rest = home if src & deep else home ^ src
                if not rest:
                    continue  # a lone cube stays
                # whether elsewhere the cube would leave a lone one behind
                alone = not (rest & rest - 1 or rest & (high if rest == src else deep))
                if src & deep:
                    targets = near
                elif self._whole(rest, src):
                    targets = rest | geometry.beside(rest) & empty
                else:
                    targets = self._bridge(view, home, src, empty, anywhere=anywhere)
                    alone = True  # the parts must meet again, wherever a cube may go
                if anywhere and not alone:
                    lifted = own ^ home | rest
                    targets = lifted | geometry.beside(lifted) & empty
                targets &= ~src
                if targets:
                    found.append((src, targets))
        return found

    def _whole(self, rest: int, src: int) -> bool:
        """Whether a group hangs together without the cell that became empty."""
        around = self.geometry.beside(src) & rest
        if not around & around - 1:
            return True
        return not around & ~self.geometry.group(rest, around & -around)

    def _bridge(self, view: View, home: int, src: int, empty: int, *, anywhere: bool) -> int:
        """Where a cube may go whose group falls apart without it (QBQ-R5)."""
        geometry = self.geometry
        parts = geometry.groups(home ^ src)
        joining = empty
        for part in parts:
            joining &= geometry.beside(part)
        if not self.counting:
            return joining
        groups = parts + geometry.groups(view.own ^ home)
        reach = view.own ^ src if anywhere else home ^ src
        found = 0
        for dst in bits(geometry.beside(reach) & empty):
            around = geometry.beside(dst)
            met = sum(1 for group in groups if group & around)
            left = any(not (part & part - 1 or part & view.deep or part & around) for part in parts)
            if met >= len(parts) and not left:
                found |= dst
        return found

    # --- inserting ---------------------------------------------------------------------------

    def insertions(self, view: View) -> int:
        """The cells on which a cube from the supply may be put."""
        if view.cubes >= CUBES:
            return 0
        own = view.own
        return own | self.geometry.beside(own) & ~view.foreign

    @staticmethod
    def inserted(view: View, at: int) -> View:
        """The board with one more own cube."""
        own, deep, high, foreign, cubes = view
        return View(own | at, deep | at & own, high | at & deep, foreign, cubes + 1)

    def compounds(self, view: View, heights: int) -> Iterator[tuple[int, int, int, int]]:
        """Every relocation, with and without an insertion before it, each result once.

        Tells the heights behind it, the cell of the inserted cube or 0, the source, the target.
        """
        yield from self._spread(self.relocations(view), heights, 0, set())
        seen: set[int] = set()
        for at in bits(self.insertions(view)):
            sources = self.relocations(self.inserted(view, at), inserted=True)
            yield from self._spread(sources, heights + at, at, seen)

    @staticmethod
    def _spread(
        sources: Sources, heights: int, at: int, seen: set[int]
    ) -> Iterator[tuple[int, int, int, int]]:
        for src, targets in sources:
            lifted = heights - src
            left = targets
            while left:
                dst = left & -left
                left ^= dst
                after = lifted + dst
                if after not in seen:
                    seen.add(after)
                    yield after, at, src, dst

    def completes(self, view: View, ups: list[int], downs: list[int]) -> bool:
        """Whether own cubes that came and went are part of some legal relocation or insertion."""
        if len(ups) > 2 or len(downs) > 1:
            return False
        lifted = downs[0] if downs else self.geometry.all
        sources = self.relocations(view, only=lifted)
        if len(ups) < 2 and any(not ups or targets & ups[0] for _, targets in sources):
            return True
        for at in bits(self._helpful(view, ups)):
            sources = self.relocations(self.inserted(view, at), inserted=True, only=lifted)
            left = list(ups)
            if at in left:
                left.remove(at)
            for rest in (left, ups):
                if len(rest) < 2 and any(not rest or targets & rest[0] for _, targets in sources):
                    return True
        return False

    def _helpful(self, view: View, ups: list[int]) -> int:
        """The insertions that can be part of a turn in which these cubes came."""
        places = self.insertions(view)
        if len(ups) == 2:
            return places & (ups[0] | ups[1])
        if ups and not ups[0] & (view.own | self.geometry.beside(view.own)):
            return places & self.geometry.beside(ups[0])  # it must first be reached
        return places

    def detour(self, view: View, dst: int) -> int:
        """Where a cube can be inserted that is then relocated to `dst`; 0 if nowhere.

        Seen afterwards, such a turn looks like a single new cube (QBQ-R8).
        """
        places = self.insertions(view) & ~dst
        for at in (*bits(places & view.own), *bits(places & ~view.own)):
            inserted = self.inserted(view, at)
            for _, targets in self.relocations(inserted, inserted=True, only=at):
                if targets & dst:
                    return at
        return 0

    # --- tipping -----------------------------------------------------------------------------

    def tips(self, position: QbqPosition, view: View) -> Iterator[tuple[int, int, list[int]]]:
        """Every legal tip: the tower, the step of its direction, the cells that cubes fall on."""
        odd = sum(bit for bit, _ in position.odd)
        for src in bits(view.deep & ~odd):
            height = position.height(src)
            for step in self.geometry.steps:
                line = self.line(src, step, height - 1)
                tested = self.line(src, step, CUBES * CUBES) if self.whole_line else line
                blocking = view.foreign | (view.own if self.own_blocks else 0)
                if not any(bit & blocking and position.height(bit) >= height for bit in tested):
                    yield src, step, line

    def line(self, src: int, step: int, most: int) -> list[int]:
        """The next cells in one direction, up to the edge."""
        found: list[int] = []
        while len(found) < most and (src := self.geometry.moved(src, step)):
            found.append(src)
        return found
