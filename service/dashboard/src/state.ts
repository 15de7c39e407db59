// The state of play, brought up to date event by event; the same steps as service/state.py.
import type { Ask, Over, Owed, PlayState, Stacks, Turn } from "./types";

// biome-ignore lint: events have open forms
export type GameEvent = { event: string; t: number; seq: number; next?: string } & Record<string, any>;

export function take(state: PlayState, event: GameEvent): PlayState {
  const next: PlayState = { ...state, t: Math.max(state.t, event.t ?? 0) };
  if (event.next !== undefined) {
    next.next = event.next;
    next.may_pass = event.may_pass ?? false;
  }
  switch (event.event) {
    case "phase":
      if (event.phase === "play" && (state.phase === "setup" || state.phase === "over")) {
        // The game before may have ended on this very table: nothing of it stays.
        Object.assign(next, { turns: [], owed: [], asks: [], over: null, score: {} });
        next.start = next.confirmed = { ...state.stacks };
      }
      next.phase = event.phase;
      break;
    case "settled":
      if (JSON.stringify(event.stacks) !== JSON.stringify(state.stacks)) {
        next.asks = []; // the same scene seen anew does not answer what was asked about it
      }
      next.stacks = event.stacks;
      next.certainty = event.certainty ?? null;
      next.unsure = event.unsure ?? {};
      next.corrected = [];
      break;
    case "corrected":
      next.corrected = event.by === "players" ? [] : event.cells;
      break;
    case "turn":
      takeTurn(next, event as unknown as Turn);
      break;
    case "owed": {
      const others = state.owed.filter((one) => one.what !== event.what);
      next.owed = [...others, event as unknown as Owed];
      break;
    }
    case "taken-back":
      if (state.turns.at(-1)?.n === event.n && isClaim(state.turns.at(-1)!)) {
        next.turns = state.turns.slice(0, -1); // the turn on the table with the same number stands
        standByRecord(next);
        break;
      }
      next.turns = state.turns
        .filter((turn) => turn.n !== event.n || !turn.legal || turn.taken_back)
        .map((turn) => (turn.n === event.n ? { ...turn, taken_back: true } : turn));
      next.owed = [];
      standByRecord(next);
      break;
    case "kept":
      next.turns = state.turns.map((turn) =>
        turn.n === event.n ? { ...turn, kept: true, final: true } : turn,
      );
      next.confirmed = next.turns.find((turn) => turn.n === event.n)?.stacks ?? next.confirmed;
      break;
    case "ask":
      next.asks = [
        ...state.asks.filter((ask) => ask.cells.join() !== event.cells.join()),
        event as unknown as Ask,
      ];
      break;
    case "answered":
      next.asks = state.asks.filter((ask) => !ask.cells.some((c) => event.cells.includes(c)));
      break;
    case "camera":
      next.cameras = {
        ...state.cameras,
        [event.camera]: { state: event.state, say: event.say ?? "", says: event.says },
      };
      break;
    case "turned":
      next.quarters = (state.quarters + (event.quarters ?? 0)) % 4;
      break;
    case "over":
      next.over = event as unknown as Over;
      next.phase = "over";
      next.score = event.score;
      break;
  }
  return next;
}

function takeTurn(next: PlayState, turn: Turn): void {
  next.turns = [...(isClaim(turn) ? next.turns : next.turns.filter((one) => one.n < turn.n)), turn];
  next.score = turn.score;
  next.owed = [];
  if (!isClaim(turn)) {
    next.asks = [];
  }
  if (turn.legal || turn.kept) {
    next.confirmed = turn.stacks;
  }
}

// Laying down a card shares the number of the turn before.
export const isClaim = (turn: Turn): boolean => turn.move.startsWith("claim");

function standByRecord(next: PlayState): void {
  const standing = next.turns.filter((turn) => turn.legal || turn.kept).at(-1);
  next.confirmed = standing?.stacks ?? next.start;
  next.score = standing?.score ?? {};
}

export interface Mark {
  cell: string;
  level: number;
  colour: string;
}

// What is on the one and not on the other, unit by unit.
export function unitsNotIn(stacks: Stacks, other: Stacks): Mark[] {
  const found: Mark[] = [];
  for (const [cell, stack] of Object.entries(stacks)) {
    const there = other[cell] ?? "";
    [...stack].forEach((letter, i) => {
      if (letter !== "." && there[i] !== letter && there[i] !== "?") {
        found.push({ cell, level: i + 1, colour: letter });
      }
    });
  }
  return found.sort((a, b) => a.level - b.level || a.cell.localeCompare(b.cell));
}

export interface Change {
  add: boolean;
  cells: string[];
  shape: string;
  colour: string;
}

// The physical changes of a turn's text, for showing them as cells and colours.
export function changesOf(move: string): Change[] {
  if (move === "pass" || move.startsWith("claim")) {
    return [];
  }
  return move.split(" ").map((word) => {
    const match = /^[+-]([a-z]\d+)(?:~([a-z]\d+)|(\^)|:(\dx\dx\d))?([A-Z?]?)$/.exec(word);
    const cells = [match?.[1], match?.[2]].filter((cell): cell is string => !!cell);
    const shape = match?.[3] ? "↑" : (match?.[4]?.replaceAll("x", "×") ?? "");
    return { add: word[0] === "+", cells, shape, colour: match?.[5] ?? "" };
  });
}

export function cellOf(name: string): { file: number; rank: number } {
  return { file: name.charCodeAt(0) - 97, rank: Number(name.slice(1)) - 1 };
}

export const cellName = (file: number, rank: number) => `${String.fromCharCode(97 + file)}${rank + 1}`;
