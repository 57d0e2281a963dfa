/**
 * A step: the work tree and the conversation at one moment. docs/formats/steps.md specifies what is written;
 * this is that record. `v` is raised when a reader of the old form would misunderstand the new one.
 */
import type { FileChanges, Tokens } from "../transcripts/model.ts";

export type StepKind = "baseline" | "turn-start" | "turn-end" | "task" | "tool" | "manual" | "safety";

/** The command of a step that was taken because the agent was about to compact its conversation. */
export const COMPACTION = "/compact";

export interface Step {
  v: 1;
  id: string;
  /** The agent's session id; null for a step taken while no session was open. */
  session: string | null;
  agent: string | null;
  kind: StepKind;
  /** 1 for the first prompt of a session; 0 before it. */
  turn: number;
  /** ISO time at which the step was taken. */
  time: string;
  prompt: string | null;
  /** Given by the user (`save <name>`). */
  name: string | null;
  /** The step before it in the session; for a task's step, the turn's first step. */
  parent: string | null;
  /** What this turn (or task) changed, as paths from the work tree's root. */
  files: FileChanges;
  head: string | null;
  branch: string | null;
  /** "main", or the name of a linked worktree. */
  worktree: string;
  model: string | null;
  tokens: Tokens | null;
  /** What the agent said last, shortened. */
  response: string | null;
  toolUseId: string | null;
  /** For a tool step: the command about to be run, shortened. */
  command: string | null;
  subagent: StepSubagent | null;
  transcript: TranscriptPosition | null;
  /** The turn was closed without the agent saying that it ended. */
  interrupted: boolean;
  snapshot: StepSnapshot;
}

export interface StepSubagent {
  id: string;
  type: string | null;
  description: string | null;
  when: "start" | "progress" | "end";
}

/** Where in the session's stored transcript this step is. */
export interface TranscriptPosition {
  path: string;
  /** Bytes of the transcript that belong to the step. */
  offset: number;
  /** The last entry that does. */
  lastId: string | null;
  /** Counts how often the transcript was found rewritten: offsets of different generations don't compare. */
  generation: number;
}

/** Object ids of the trees that hold the state, all reachable from the session's ref. */
export interface StepSnapshot {
  /** The work tree as git would store it. */
  work: string;
  /** What was staged. */
  index: string;
  /** Exact bytes of files that git's filters would not give back the same; null where there are none. */
  raw: string | null;
  /** Conflicted index entries. */
  unmerged: UnmergedEntry[];
  /** Paths added with `git add --intent-to-add`. */
  intentToAdd: string[];
  notCaptured: NotCaptured[];
}

export interface UnmergedEntry {
  path: string;
  /** [stage, mode, object id] */
  stages: [number, string, string][];
}

export interface NotCaptured {
  path: string;
  why: "too-large" | "nested-repository" | "submodule" | "unreadable" | "special-file";
}
