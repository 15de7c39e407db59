"""A live session: one game at one table, from set-up to the final score."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from rules.cells import Cell
from rules.errors import NotationError, RulesError
from rules.game import Game
from rules.referee import Referee
from rules.stacks import Stacks
from service.colour_words import names_of
from service.errors import BadRequest, NotAllowed, NotNow
from service.follower import Seen
from service.inputs import Input, Json, Misread, What, effective, understood
from service.judging import judge_input, may_pass
from service.state import Difference, PlayState
from service.store import Kind, Store
from service.stream import Channel, Message

Clock = Callable[[], float]


class GameSession:
    """Owns the log of a session; readings and taps go in, events come out.

    Whatever is put in is judged, written to the disk, and only then told to anybody. Calls may
    come from any thread; they are taken one after another.
    """

    def __init__(
        self,
        session: str,
        game: Game[Any],
        store: Store,
        clock: Clock = time.time,
    ) -> None:
        self.id = session
        self.game = game
        self.channel = Channel()
        self.state = PlayState()
        self.seq = 0
        self._referee = Referee(game)
        self._store = store
        self._clock = clock
        kept = store.session(session)
        self._began = kept.created  # by this clock, the session was opened then
        given = {p["id"]: p.get("name") or "" for p in kept.setup.get("players", ())}
        players = {player: given.get(player, "") for player in game.players}
        colours = {**game.spec.colours, **kept.setup.get("colours", {})}
        self._letters = {*colours, *game.setup.details.get("colours", "").split(), "?", "."}
        self._names = names_of(players, colours)
        self._inputs: list[Input] = []
        self._misread: dict[str, Misread] = {}
        self._lock = threading.RLock()
        self.listeners: list[Callable[[Json], None]] = []
        self._recall()

    def _recall(self) -> None:
        """Take the log from the disk; the game goes on where it stood."""
        entries = self._store.entries(self.id)
        self.seq = entries[-1].seq if entries else 0
        self._inputs = [Input.of(e.seq, e.body) for e in entries if e.kind == "input"]
        cameras = [e.body for e in entries if e.kind == "event" and e.body["event"] == "camera"]
        self._judge_again()
        for event in cameras:
            self.state.take(event)
        if not self._inputs:
            self.state.next = self.game.start().player

    @property
    def t(self) -> float:
        """Seconds since the session was opened."""
        return round(max(self._clock() - self._began, self.state.t), 3)

    def keep_time(self, clock: Clock) -> None:
        """Let time go on by another clock, as it passes for whoever follows the table."""
        with self._lock:
            self._began = clock() - self.t
            self._clock = clock

    # What is put in

    def observed(self, seen: Seen) -> bool:
        """A still scene, and whether it showed that an earlier one had been misread.

        The same one again tells nothing new and is not kept.
        """
        body: Json = {
            "stacks": seen.stacks.to_json(),
            "unsure": {cell: dict(choices) for cell, choices in seen.unsure.items()},
            "hidden": list(seen.hidden),
            "certainty": round(seen.certainty, 4),
        }
        if seen.doubted:
            body["doubted"] = {cell: dict(choices) for cell, choices in seen.doubted.items()}
        if seen.hand_clock is not None:
            body["hand_clock"] = round(seen.hand_clock, 2)
        alike = {"certainty": 0, "hand_clock": 0}  # however it was seen
        with self._lock:
            last = self._last_observed()
            if last is not None and {**last.body, **alike} == {**body, **alike}:
                return False
            events = self._put("observed", body)
        return any(event["event"] == "corrected" for event in events)

    def tick(self) -> None:
        """Time has passed; kept only if something follows from it."""
        with self._lock:
            one = Input(self.seq + 1, self.t, "tick")
            if self.state.phase == "play" and self._inputs:
                events = judge_input(self._referee, one, self._names)
                if events:
                    self._commit(one, events)

    def start(self) -> None:
        """The host begins the game with the table as it stands."""
        if self.state.phase != "setup":
            raise NotNow("the game has begun already")
        self._put("start")

    def undo(self) -> None:
        """Take the last turn out of the record; the table is expected to follow."""
        with self._lock:
            if not self.state.turns:
                raise NotNow("there is no turn to take back")
            self._put("undo")

    def keep(self) -> None:
        """Let the last, illegal turn stand as a house decision."""
        with self._lock:
            self._put("keep")

    def pause(self) -> None:
        if self.state.phase == "paused":
            raise NotNow("the game is paused already")
        self._put("pause")

    def resume(self) -> None:
        if self.state.phase != "paused":
            raise NotNow("the game is not paused")
        self._put("resume")

    def claim(self, player: str, card: str) -> None:
        """A player lays down a card; raises NotNow."""
        if not self.game.spec.secrets:
            raise NotNow(f"{self.game.spec.title} has no cards")
        if self.state.phase not in ("play", "over"):
            raise NotNow("cards are laid down while the game is on")
        self._put("claim", {"player": player, "card": card})

    def pass_turn(self, player: str | None = None) -> None:
        """The player to move passes, or lays down no more cards; `player` says who asks for it."""
        with self._lock:
            mover = self._referee.position.player
            if player not in (None, mover):
                raise NotAllowed("only the player to move can pass")
            if not may_pass(self._referee):
                raise NotNow("the player to move cannot pass now")
            self._put("pass", {"player": mover})

    def correct(self, cells: Mapping[str, str], turn: int | None = None) -> None:
        """Say what really stands on cells, since this turn or since the last reading.

        All later turns and scores are judged again. Raises BadRequest, NotNow.
        """
        named = self.checked(cells)
        if not named:
            raise BadRequest("no cell named")
        with self._lock:
            since = self._first_seen(turn)
            before = {one["n"]: one for one in self.state.turns}
            before_asks = self.state.asks
            body: Json = {"cells": named, "since": since}
            one = Input(self.seq + 1, self.t, "correct", body)
            self._inputs.append(one)
            try:
                told = self._judge_again(keep_cameras=True)
                asked = {cell for ask in before_asks for cell in ask["cells"]}
                what = "answered" if set(named) <= asked else "corrected"
                events = [{"event": what, "t": one.t, "cells": sorted(named), "by": "players"}]
                events += [
                    turn_event
                    for turn_event in (event for _, events in told for event in events)
                    if turn_event["event"] == "turn"
                    and _judgement(turn_event) != _judgement(before.get(turn_event["n"]))
                ]
                self._write(one, [{**event, "t": one.t} for event in events])
            except BaseException:
                self._inputs.pop()
                self._judge_again(keep_cameras=True)
                raise
            self.seq += 1 + len(events)
            self.channel.restart()

    def checked(self, cells: Mapping[str, str]) -> dict[str, str]:
        """Stacks that could stand on this board, by their cells; raises BadRequest."""
        try:
            stacks = {str(Cell.parse(name)): stack for name, stack in cells.items()}
            Stacks.of(stacks)
        except NotationError as error:
            raise BadRequest(str(error)) from error
        outside = [name for name in stacks if Cell.parse(name) not in self.game.lattice]
        if outside:
            raise BadRequest(f"{outside[0]!r} is not on the board")
        high = [name for name, stack in stacks.items() if len(stack) > self.game.lattice.levels]
        if high:
            raise BadRequest(
                f"{high[0]} cannot be {len(stacks[high[0]])} high; "
                f"at most {self.game.lattice.levels}"
            )
        strange = sorted({letter for stack in stacks.values() for letter in stack} - self._letters)
        if strange:
            known = " ".join(sorted(self._letters))
            raise BadRequest(f"there is no colour {strange[0]!r}; known are {known}")
        return stacks

    def _first_seen(self, turn: int | None) -> int:
        """The number of the observation from which a correction holds."""
        last = self._last_observed()
        if last is None:
            raise NotNow("nothing has been seen yet that could be corrected")
        if turn is None:
            return last.seq
        for number, events in self._told:
            if any(e["event"] == "turn" and e["n"] == turn for e in events):
                return number
        raise BadRequest(f"there is no turn {turn}")

    def _last_observed(self) -> Input | None:
        return next((one for one in reversed(self._inputs) if one.what == "observed"), None)

    def _put(self, what: What, body: Json | None = None) -> list[Json]:
        """Judge one input, write it with what it brings about, then tell everybody."""
        with self._lock:
            one = Input(self.seq + 1, self.t, what, body or {})
            meant = understood(one, self._misread) if what == "observed" else one
            try:
                events = judge_input(self._referee, meant, self._names)
            except RulesError as error:
                self._judge_again(keep_cameras=True)
                raise NotNow(str(error)) from error
            self._commit(one, events)
        return events

    def _commit(self, one: Input, events: list[Json]) -> None:
        """Write an input with what it brought about; only then anybody is told."""
        try:
            self._write(one, events)
        except BaseException:
            self._judge_again(keep_cameras=True)  # the referee is ahead of the log
            raise
        self._inputs.append(one)
        self._told.append((one.seq, events))
        self._tell(events, one.seq)

    def _write(self, one: Input, events: Sequence[Json]) -> None:
        lines: list[tuple[Kind, Json]] = [("input", one.to_json())]
        lines += [("event", dict(event)) for event in events]
        self._store.append(self.id, self.seq, lines)

    def _tell(self, events: Sequence[Json], after: int) -> None:
        self.seq = after + len(events)
        for number, event in enumerate(events, after + 1):
            self.state.take(event)
            self.channel.publish(Message(number, to_text({**event, "seq": number})))
        for event in events:
            for listener in self.listeners:
                listener(event)

    def notice(self, event: Json) -> None:
        """Something happened that is no matter of the rules, such as a covered camera."""
        with self._lock:
            told = {"t": self.t, **event}
            self._store.append(self.id, self.seq, [("event", told)])
            self._tell([told], self.seq)

    def _judge_again(self, *, keep_cameras: bool = False) -> list[tuple[int, list[Json]]]:
        """Judge the whole log anew, with all that is known now about what was misread."""
        cameras = self.state.cameras if keep_cameras else {}
        self._referee = Referee(self.game)
        self.state = PlayState(cameras=cameras, next=self.game.start().player)
        self._told: list[tuple[int, list[Json]]] = []
        for one in effective(self._inputs):
            events = judge_input(self._referee, one, self._names)
            self._told.append((one.seq, events))
            for event in events:
                self.state.take(event)
        self._misread = _still_misread(self._inputs)
        return self._told

    # What can be asked

    def snapshot(self) -> tuple[int, Json]:
        """The number of the last event, and the whole state behind it."""
        with self._lock:
            state = self.state.to_json()
            state["difference"] = self.difference().to_json()
            return self.seq, state

    def difference(self) -> Difference:
        """What is missing and surplus on the table against the confirmed position."""
        return Difference.between(self.state.confirmed, self.state.stacks)

    def legal(self, most: int = 5000) -> list[Json]:
        """Every legal turn of the player to move on the table, with the cells it fills.

        Cards that he could lay down are nobody else's business.
        """
        with self._lock:
            position = self._referee.position
        found = []
        for turn in self.game.turns(position):
            if turn.claim:
                continue
            cells = {str(cell) for change in turn.changes for cell in change.cells()}
            found.append({"player": turn.player, "move": turn.move, "cells": sorted(cells)})
            if len(found) == most:
                break
        return found

    def record(self, *, secrets: bool = False) -> str:
        """The game as text, one turn a line; with `secrets` also what not everybody may see."""
        with self._lock:
            record = self._referee.record
        if not secrets:
            hidden = record.spec.secrets
            open_ = {k: v for k, v in record.setup.details.items() if k not in hidden}
            record = replace(record, setup=replace(record.setup, details=open_))
        return str(record)

    def explains(self, stacks: Stacks) -> bool:
        """Whether such a scene would surprise nobody."""
        with self._lock:
            read = Input(0, 0.0, "observed", {"stacks": stacks.to_json()})
            meant = understood(read, dict(self._misread))
            return self._referee.explains(Stacks.of(meant.body["stacks"]))

    def expected(self) -> Sequence[Stacks]:
        """Scenes worth looking for: what any legal turn would make of the position."""
        with self._lock:
            return self._referee.expected()

    @property
    def believed(self) -> Stacks:
        """What should stand on the table, be it legal or not."""
        with self._lock:
            return self._referee.believed


def _still_misread(inputs: Sequence[Input]) -> dict[str, Misread]:
    """Which corrections still hold for the next reading."""
    probe = Input(0, 0.0, "observed", {"stacks": {}})
    last = next((one for one in reversed(inputs) if one.what == "observed"), probe)
    meant = {one.seq: one for one in effective(inputs) if one.what == "observed"}.get(last.seq)
    if meant is None:
        return {}
    raw, real = last.body["stacks"], meant.body["stacks"]
    return {
        cell: Misread(raw.get(cell, ""), real.get(cell, ""))
        for cell in {*raw, *real}
        if raw.get(cell) != real.get(cell)
    }


def _judgement(turn: Json | None) -> object:
    if turn is None:
        return None
    return turn["move"], turn["legal"], turn["score"], turn["stacks"]


def to_text(message: Json) -> str:
    """A message as it goes over the wire."""
    return orjson.dumps(message).decode()
