// What the server sends, as docs/http-api.md describes it.

export type Stacks = Record<string, string>;
export type Says = Partial<Record<string, string>>;

export interface Me {
  role: "host" | "player" | "camera" | "onlooker" | "stranger";
  session: string | null;
  player: string | null;
  version: string;
  current: string | null;
}

export type Extent = [wide: number, deep: number, high: number];

export interface BoardInfo {
  columns: number;
  ranks: number;
  levels: number;
  pitch_mm: number;
  unit_mm: [number, number, number];
}

export interface ColourInfo {
  name: string;
  rgb: [number, number, number];
}

export interface PlayerInfo {
  id: string;
  name: string;
}

export interface CameraModel {
  matrix: number[][];
  distortion: number[];
  rotation: number[][];
  translation_mm: number[];
}

export interface CameraInfo {
  name: string;
  kind: string;
  size: [number, number];
  model: CameraModel | null;
  needs: "pose" | "colours" | ""; // what is to be done before it can watch
}

export interface Break {
  rule: string;
  cells: string[];
  say: string;
  says?: Says;
}

export interface Turn {
  n: number;
  t: number;
  player: string;
  move: string;
  legal: boolean;
  breaks: Break[];
  final: boolean;
  score: Record<string, number>;
  stacks: Stacks;
  kept?: boolean;
  taken_back?: boolean;
}

export interface Owed {
  player: string;
  what: "stack" | "relocate" | "bonus";
  cells: Record<string, number>;
}

export interface Ask {
  cells: string[];
  choices: Record<string, string[]>;
  say: string;
  says?: Says;
}

export interface Over {
  winner: string | string[] | null;
  reason: string;
  say?: string;
  says?: Says;
  score: Record<string, number>;
}

export interface UnitMark {
  unit: string;
  colour: string;
}

export interface Difference {
  same: boolean;
  missing: UnitMark[];
  surplus: UnitMark[];
}

export interface PlayState {
  phase: "setup" | "play" | "over" | "paused";
  t: number;
  next: string | null;
  may_pass: boolean;
  stacks: Stacks;
  start: Stacks;
  confirmed: Stacks;
  certainty: number | null;
  unsure: Record<string, Record<string, number>>;
  corrected: string[]; // cells that were misread, as a later scene has shown
  turns: Turn[];
  score: Record<string, number>;
  owed: Owed[];
  asks: Ask[];
  cameras: Record<string, { state: string; say: string; says?: Says }>;
  over: Over | null;
  quarters: number;
}

export type Source = "camera" | "virtual-camera" | "record" | "none";

export interface TableInfo {
  id: string;
  name: string;
  source: Source;
  game: string;
  title: string;
  board: BoardInfo;
  colours: Record<string, ColourInfo>;
  players: PlayerInfo[];
  rules: Record<string, string | number | boolean>;
  cameras: CameraInfo[];
  cards: boolean;
  pieces: Record<string, Extent[]>; // how pieces of a colour can lie, the longest first
}

export interface LegalTurn {
  player: string;
  move: string;
  cells: string[];
}

export interface SessionLine {
  id: string;
  created: number;
  name: string;
  game: string;
  title?: string;
  phase?: PlayState["phase"];
  turns?: number;
  score?: Record<string, number>;
  winner?: string | string[] | null;
  live?: boolean;
}

export interface GameInfo {
  name: string;
  title: string;
  board: BoardInfo;
  sizes: [number, number];
  players: string[];
  fewest_players: number;
  colours: Record<string, ColourInfo>;
  kit: { shape: string; colour: string; count: number }[];
  options: {
    key: string;
    default: string | number | boolean;
    choices: (string | number | boolean)[];
    least: number;
    most: number;
    says: Record<string, Says>; // what each value decides; '' for numbers
  }[];
  rules?: { code: string; clause: string; say: string }[];
}
