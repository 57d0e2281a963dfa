/**
 * Defines a step: the work tree and the conversation at one moment, as specified in docs/formats/steps.md. `v`
 * increases when a reader of the old format would misread the new one.
 */
import type { FileChanges } from "./changes.ts";
import type { Tokens } from "./tokens.ts";

export const STEP_KINDS = ["baseline", "turn-start", "turn-end", "task", "tool", "manual", "safety"] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** All but safety steps, which are listed with the operation that they were saved for. */
export const TIMELINE_KINDS: readonly StepKind[] = STEP_KINDS.filter((kind) => kind !== "safety");

/** The command of a step taken because the agent was about to compact its conversation. */
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
  /** The name that the user gave (`save <name>`). */
  name: string | null;
  /** The previous step in the session; for a task's step, the turn's first step. */
  parent: string | null;
  /** The files that this turn or task changed, as paths from the work tree's root. */
  files: FileChanges;
  head: string | null;
  branch: string | null;
  /** "main", or the name of a linked worktree. */
  worktree: string;
  model: string | null;
  tokens: Tokens | null;
  /**
   * Number of the model's answers in this turn or task, if the transcript has it; absent in steps of older versions.
   */
  apiCalls?: number;
  /** Their cost in US dollars, if the agent reports it. */
  usd?: number;
  /** The agent's last answer, shortened. */
  response: string | null;
  toolUseId: string | null;
  /** For a tool step: the command about to be run, shortened. */
  command: string | null;
  subagent: StepSubagent | null;
  transcript: TranscriptPosition | null;
  /** The turn was closed without an end event from the agent. */
  interrupted: boolean;
  /** True on a `baseline` taken at the session's end; absent at its start and in steps of older versions. */
  sessionEnd?: true;
  snapshot: StepSnapshot;
}

interface StepSubagent {
  id: string;
  type: string | null;
  description: string | null;
  when: "start" | "progress" | "end";
}

/** The step's position in the session's stored transcript. */
export interface TranscriptPosition {
  path: string;
  /** Number of transcript bytes up to and including the step. */
  offset: number;
  /** Id of the last entry within these bytes. */
  lastId: string | null;
  /** Counts rewrites of the transcript: offsets of different generations are not comparable. */
  generation: number;
}

/** Ids of the trees that hold the state, all reachable from the session's refs. */
export interface StepSnapshot {
  /** The work tree as git would store it. */
  work: string;
  /** The staged files. */
  index: string;
  /** Exact bytes of files that git's filters would not reproduce; null if there are none. */
  raw: string | null;
  /**
   * The same trees without private files: these are in the repository, the ones above in the private store. Absent if
   * there are no private files; then all trees are in the repository.
   */
  shared?: { work: string; raw: string | null };
  /** Conflicted index entries. */
  unmerged: UnmergedEntry[];
  /** Paths added with `git add --intent-to-add`. */
  intentToAdd: string[];
  notCaptured: NotCaptured[];
  /** Detail with the ignore rules outside any tree; null if there were none, absent if unknown. */
  ignore?: string | null;
  /** Detail with the permissions that a plain checkout would not restore; null if there are none, absent if unknown. */
  permissions?: string | null;
  /** git's settings for line endings at the time; absent if `raw` may lack files that git considered unchanged. */
  lineEnds?: LineEndSettings;
  /** Detail with the names, times and sizes of known ignored files; absent if none were known. */
  ignoredFiles?: string;
}

export interface UnmergedEntry {
  path: string;
  /** [stage, mode, object id] */
  stages: [number, string, string][];
}

export interface NotCaptured {
  path: string;
  why: "too-large" | "too-many" | "no-time" | "nested-repository" | "submodule" | "unreadable" | "special-file";
}

/** The line endings that git writes where no attribute decides: `core.autocrlf`, or `core.eol` if that is off. */
export type LineEndSettings = "autocrlf" | "input" | "crlf" | "lf";
