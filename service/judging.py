"""Between a session and the referee: which input calls what, and events as plain JSON."""

from collections.abc import Mapping
from typing import Any

from rules.cells import Cell
from rules.events import Event
from rules.referee import Referee
from rules.sentences import LANGUAGES, catalogue, sentence
from rules.stacks import Stacks
from rules.turn import Turn
from service.colour_words import Names
from service.inputs import Input, Json

NOBODY: Names = {}
_PEOPLE = ("player", "winner")  # facts that are ids of players


def judge_input(referee: Referee, one: Input, names: Names = NOBODY) -> list[Json]:
    """Hand one input of the log to the referee; raises RulesError where it makes no sense.

    `names` tell what to call the players in sentences.
    """
    events = [translated(event.as_dict(), names) for event in _told(referee, one)]
    if one.what == "observed":
        events.insert(0, _settled(one))
    following: Json = {"next": referee.position.player, "may_pass": may_pass(referee)}
    return [{**event, **following} for event in events]


def may_pass(referee: Referee) -> bool:
    """Whether the player to move may say that he passes, or has no more cards to lay down."""
    position = referee.position
    return referee.phase == "play" and referee.game.judge(position, Turn(position.player)).legal


def _told(referee: Referee, one: Input) -> list[Event]:  # noqa: C901, PLR0911  one line an input
    body: Mapping[str, Any] = one.body
    match one.what:
        case "observed":
            unsure, doubted = _doubt(body, "unsure"), _doubt(body, "doubted")
            hidden = [Cell.parse(name) for name in body.get("hidden", ())]
            stacks, hand_clock = Stacks.of(body["stacks"]), body.get("hand_clock")
            return referee.observe(one.t, stacks, unsure, hidden, doubted, hand_clock)
        case "tick":
            return referee.tick(one.t)
        case "start":
            return referee.start(one.t)
        case "undo":
            return referee.undo(one.t)
        case "keep":
            return referee.keep(one.t)
        case "pause":
            return referee.pause(one.t)
        case "resume":
            return referee.resume(one.t)
        case "claim":
            return referee.claim(one.t, body["player"], body["card"])
        case "pass":
            return referee.pass_turn(one.t, body["player"])
        case "correct":  # reaches back through the log: service.inputs
            referee.take_at_their_word()
            return []


def _doubt(body: Mapping[str, Any], key: str) -> dict[Cell, Any]:
    return {Cell.parse(name): odds for name, odds in body.get(key, {}).items()}


def _settled(one: Input) -> Json:
    told = {"event": "settled", "t": one.t, "stacks": one.body["stacks"]}
    told["certainty"] = one.body.get("certainty", 1.0)
    for key in ("unsure", "hidden"):
        if one.body.get(key):
            told[key] = one.body[key]
    return told


def translated(event: Json, names: Names = NOBODY) -> Json:
    """The event with every sentence in all languages, as `says` beside the English `say`."""
    if "breaks" in event:
        breaks = [_translated(broken, broken["rule"], names) for broken in event["breaks"]]
        return {**event, "breaks": breaks}
    if event["event"] == "over":
        return _translated(event, event["reason"], names)
    if event["event"] == "ask":
        return _translated(event, "shared.unsure", names)
    return event


def named(event: Event, names: Names, language: str) -> Event:
    """The event with its sentences in one language, players called by their names."""
    told = translated({"event": event.event, **event.data}, names)

    def one(said: Json) -> Json:
        says = said.get("says")
        rest = {key: value for key, value in said.items() if key != "says"}
        return {**rest, "say": says[language]} if says else rest

    data = {key: value for key, value in one(told).items() if key != "event"}
    if "breaks" in data:
        data["breaks"] = [one(broken) for broken in data["breaks"]]
    return Event(event.event, event.t, data)


def camera_event(camera: str, state: str, why: str) -> Json:
    """Something happened to a camera: its sentence in all languages."""
    event: Json = {"event": "camera", "camera": camera, "state": state, "say": why}
    if state not in catalogue("camera"):
        return event
    facts = {"camera": camera, "other": why}
    says = {one: sentence(f"camera.{state}", one, (), facts) for one in LANGUAGES}
    detail = f" ({why})" if why and state != "swapped" else ""  # in English only
    return {**event, "say": says["en"] + detail, "says": says}


def _translated(told: Json, code: str, names: Names) -> Json:
    cells = [Cell.parse(name) for name in told.get("cells", ())]
    given = told.get("facts", {})
    says = {}
    for language in LANGUAGES:
        people = names.get(language, {})
        facts = {k: people.get(v, v) if k in _PEOPLE else v for k, v in given.items()}
        says[language] = sentence(code, language, cells, facts)
    return {**told, "say": says["en"], "says": says}
