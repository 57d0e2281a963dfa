/** Protocol of `backtrail view`: differences, trees, files and blame. */
import type { CommitRow, LineCounts } from "./timeline.ts";

/** Either a turn (or a subagent's step), or two states; without `to`, the current files. */
export type Comparison = { turn: string } | { from: string; to?: string };

export interface Changes {
  from: string;
  /** Null: the current files. */
  to: string | null;
  files: ChangedFile[];
  lines: LineCounts;
}

export interface ChangedFile {
  path: string;
  /** The earlier path of a renamed file. */
  oldPath: string | null;
  status: "added" | "modified" | "deleted" | "renamed" | "mode";
  /** Null for binary files. */
  lines: LineCounts | null;
  binary: boolean;
  oldMode: string | null;
  newMode: string | null;
}

export type FileDiff = { path: string; oldPath: string | null } & (
  | {
      kind: "text";
      hunks: Hunk[];
      /** `offset` of the rest; null if this is all. */
      next: number | null;
      /** Lines of the whole diff, hunk headers not counted. */
      total: number;
    }
  | { kind: "image"; before: Image | null; after: Image | null }
  | { kind: "binary"; before: number | null; after: number | null }
  | { kind: "too-large"; before: number | null; after: number | null }
  | { kind: "submodule"; before: string | null; after: string | null }
  /** Only the mode or the name changed. */
  | { kind: "same" }
  /** In an exported page only: the file would have become too large. */
  | { kind: "left-out" }
);

export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** The text after the second `@@`. */
  section: string;
  /** Each begins with " ", "+", "-" or "\" (no newline at the end of the file). Lines over 2,000 characters are cut. */
  lines: string[];
}

/** PNG, JPEG, GIF and WebP only: show it with `data:<mediaType>;base64,<base64>`. SVG is text. */
export interface Image {
  mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  base64: string;
  bytes: number;
}

export interface Moment {
  step: string;
  time: string;
  kind: "baseline" | "turn-start" | "turn-end" | "task" | "tool" | "manual" | "safety";
  agent: string | null;
  session: string | null;
  number: number;
  /** Shortened to 80 characters. */
  prompt: string | null;
  name: string | null;
  /** The branch in `Timeline`: only `current` moments led to the current files. */
  current: boolean;
  /** With `path`: what the moment did to that file. */
  change?: "added" | "modified" | "deleted";
}

export interface Tree {
  step: string;
  path: string;
  entries: TreeEntry[];
  /** More than 10,000 entries are cut off. */
  more: boolean;
}

interface TreeEntry {
  name: string;
  kind: "directory" | "file" | "executable" | "link" | "submodule";
  /** Content id: equal ids have equal content, at any step. */
  id: string;
}

export type FileAtStep = { step: string; path: string; id: string } & (
  | {
      kind: "text";
      text: string;
      /** The first line in `text`, and the number of lines of the whole file. */
      offset: number;
      lines: number;
      next: number | null;
    }
  | { kind: "image"; image: Image }
  | { kind: "binary"; bytes: number }
  | { kind: "too-large"; bytes: number }
  | { kind: "link"; target: string }
  | { kind: "submodule"; commit: string }
);

export interface FileBlame {
  path: string;
  lines: BlamedLine[];
  /** Turns behind the lines; `BlamedLine.turn` is an index into it. */
  turns: BlamedTurn[];
  commits: CommitRow[];
  total: number;
  next: number | null;
  /** Sentences about records that could not be read. */
  problems: string[];
}

export interface BlamedLine {
  /** From 1. */
  line: number;
  text: string;
  /** An index into `turns`; null: a person wrote the line. */
  turn: number | null;
  /** An index into `commits`; null: not committed. */
  commit: number | null;
}

export interface BlamedTurn {
  agent: string;
  session: string;
  number: number | null;
  prompt: string | null;
  /** The turn's step, if it is recorded here: a target. */
  step: string | null;
  checkpoint: string | null;
}
