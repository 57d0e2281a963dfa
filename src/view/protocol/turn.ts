/** Protocol of `backtrail view`: one turn: its texts, tool calls, side effects and checks. */
import type { Check, CommitRow, TurnRow } from "./timeline.ts";

export interface TurnDetails {
  turn: TurnRow;
  /** The whole texts. */
  prompt: string | null;
  answer: string | null;
  /** The steps just before and just after the turn: targets for "before this turn" and "after this turn". */
  before: string | null;
  after: string | null;
  /** In the order they started; empty if the agent's transcript cannot be read. */
  tools: ToolCall[];
  /** Why `tools` is empty, for people; null if it is not. */
  noTools: "no-transcript" | "unreadable" | null;
  /** Side effects that rewinding to before the turn would not undo. */
  notUndone: SideEffect[];
  checks: CheckResult[];
  commits: CommitRow[];
  previous: string | null;
  next: string | null;
  /** Files that are not in the snapshot. */
  notCaptured: { path: string; why: string }[];
}

export interface ToolCall {
  id: string;
  name: string;
  kind: "write" | "shell" | "task" | "todo" | "read" | "other";
  /** One line about the call: the command, the path, the pattern. */
  title: string;
  startedAt: string | null;
  endedAt: string | null;
  /** Null if one of the times is unknown. */
  milliseconds: number | null;
  /** 0 for the first lane; calls that ran at the same time have different lanes. */
  lane: number;
  failed: boolean;
  /** Shortened to 2,000 characters each; `toolCall` has the whole. */
  input: string;
  output: string | null;
  shortened: boolean;
  files: string[];
  /** The subagent that the call started: an id of `TurnRow.subagents`. */
  subagent: string | null;
}

export interface ToolCallDetails {
  id: string;
  name: string;
  input: string;
  output: string | null;
  /** Over 1 MB is cut off here too. */
  cut: boolean;
}

export interface SideEffect {
  kind: string | null;
  what: string;
  why: string;
  command: string | null;
}

export interface CheckResult {
  step: string;
  when: "before" | "after";
  command: string;
  verdict: Check;
}
