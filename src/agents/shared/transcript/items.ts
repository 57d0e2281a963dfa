/**
 * The entries that an adapter's `readEntries` yields: one for each meaningful line or message, in the transcript's
 * order. Shared code derives both the slice of a turn and the whole conversation from them, so only one function per
 * agent parses the agent's format.
 */

import type { Tokens } from "../../../model/tokens.ts";
import type { Line } from "../../../transcripts/lines.ts";

/**
 * Reads complete lines, starting with the line at `from`. Skips a torn last line and foreign lines, and never throws.
 * Every hook calls it, so it parses only lines that can contain an item. `isTail`: the caller wants only new content,
 * so lines that merely repeat earlier content need not be parsed.
 */
export type ReadEntries = (bytes: Buffer, from?: number, isTail?: boolean) => Iterable<TranscriptEntry>;

export interface TranscriptEntry extends Line {
  /** The agent's id for the line or message; null if it has none. May be a lazy getter. */
  readonly id: string | null;
  readonly time: string | null;
  /** The conversation can be cut after this entry. */
  readonly cuttable: boolean;
  /**
   * Undefined for an entry of the conversation itself. Otherwise the entry's tokens and files count, but its text does
   * not:
   * - `subagent`: a subagent's line in the session's transcript;
   * - `repeated`: the agent wrote a message a second time;
   * - `rewound`: the user went back to before this entry. A slice still reports it.
   */
  readonly scope?: Scope | undefined;
  /** An entry without items exists only because the conversation can be cut after it. */
  readonly items: readonly TranscriptItem[];
}

export type Scope = "subagent" | "repeated" | "rewound";

export type TranscriptItem =
  /** The user's message. `isCommand`: it only changes the agent's settings and does not reach the model. */
  | { kind: "prompt"; text: string; isCommand?: boolean }
  /** The model's answer. Items with the same `message`, or without one in the same entry, are parts of one answer. */
  | { kind: "answer"; text: string; message?: string | null }
  | { kind: "thinking"; text: string }
  /** Text from neither the user nor the model. */
  | { kind: "note"; text: string; files?: readonly string[] }
  | ToolUse
  | ToolResult
  /** Files known to be written, whatever the tool's result. */
  | { kind: "files"; files: readonly string[]; toolUseId: string | null }
  | Usage
  | { kind: "model"; model: string }
  /** `text` may be a lazy getter, and null if there is no title after all. The lowest rank wins. */
  | { kind: "title"; readonly text: string | null; rank?: number }
  /** The user interrupted the turn. The conversation shows `text`; null shows nothing. */
  | { kind: "interrupted"; text: string | null }
  /** The turn ran to its end. */
  | { kind: "completed" }
  | { kind: "compaction"; text: string }
  /** A subagent's final report, in the subagent's transcript. */
  | { kind: "report"; text: string };

interface ToolUse {
  kind: "tool-use";
  toolUseId: string | null;
  toolName: string | null;
  input: unknown;
  /** Files that the tool writes unless its result reports a failure. */
  files?: readonly string[];
  /** The agent's working directory, if the transcript reports it. */
  cwd?: string;
}

interface ToolResult {
  kind: "tool-result";
  toolUseId: string | null;
  /** The tool's name, if the result contains it. */
  toolName?: string | null;
  text: string;
  failed?: boolean;
  /** Files named in the result, for a tool use that names none or lies outside these bytes. */
  files?: readonly string[];
}

interface Usage {
  kind: "usage";
  /** The tokens of an answer; null if the answer does not report them. */
  tokens: Tokens | null;
  /** Several items may report the same usage; the last one with the same key counts. Null: reported only once. */
  key: string | null;
  /** The cost in US dollars, if the agent reports it. */
  usd?: number | null;
  /** Counts only if no item without this mark reports usage. */
  isFallback?: boolean;
}

export const INTERRUPTED_BY_USER = "Interrupted by the user";
