/** What a restore can refuse or fail with, as data. cli/render/words/restore/problems.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";
import type { NoConversation, RestoreNote } from "./notes.ts";
import type { Conflict, RestoreKind } from "./types.ts";

/** Possible targets, for a hint: a word that looks like the given one, and the newest steps. */
export interface Suggestions {
  closest: string | null;
  steps: string[];
}

/** The existing meaning of a word that rules it out as a name. */
export type TakenName =
  | { kind: "keyword" }
  | { kind: "count" }
  | { kind: "step"; id: string }
  | { kind: "commit"; id: string }
  | { kind: "checkpoint" }
  | { kind: "session"; id: string };

/** One of two meanings of a target. */
export type Meaning =
  | { kind: "turn"; count: number }
  | { kind: "named-step"; step: string }
  | { kind: "session"; session: string; step: string }
  | { kind: "subagent"; id: string; step: string }
  | { kind: "commit"; commit: string };

export type RestoreProblem =
  // Targets.
  | { kind: "name-taken"; name: string; meaning: TakenName }
  | { kind: "empty-target" }
  | { kind: "checkpoint-without-commit"; checkpoint: string }
  | { kind: "target-unknown"; text: string; suggestions: Suggestions }
  | { kind: "turn-unknown"; text: string }
  | { kind: "turn-zero"; text: string }
  | { kind: "target-ambiguous"; text: string; meanings: readonly [Meaning, Meaning] }
  | { kind: "session-ambiguous"; text: string }
  | { kind: "checkpoint-branch"; text: string }
  | { kind: "no-green-step"; isChecked: boolean }
  /** `isEmpty`: nothing at all is recorded. */
  | { kind: "no-turn-here"; isEmpty: boolean; suggestions: Suggestions }
  | { kind: "too-few-turns"; count: number; available: number; suggestions: Suggestions }
  | { kind: "turn-count-too-high"; count: number; available: number; inSession: boolean }
  | { kind: "other-work-tree"; step: string; worktree: string }
  | { kind: "not-in-turn"; step: string }
  | { kind: "step-gone"; step: string }
  // Turns to undo.
  | { kind: "no-turn-to-undo"; inSession: boolean }
  /** `start`: the step from before the turn. */
  | { kind: "turn-running"; agent: string; prompt: string | null; start: string }
  | { kind: "turn-end-missing"; prompt: string | null; start: string }
  | ({ kind: "turn-undone" | "turn-rewound" } & NamedTurn)
  | { kind: "subagent-unclear" }
  | { kind: "already-undone" }
  // Rewind with the user's own changes kept.
  | { kind: "turn-not-ended"; agent: string; turn: number }
  | { kind: "own-changes-unknown"; target: "commit" | "other-work-tree" }
  // Operations.
  | { kind: "nothing-to-redo"; isAllRedone: boolean }
  | { kind: "no-operation" }
  | { kind: "operation-unknown"; text: string }
  | { kind: "operation-ambiguous"; text: string; ids: string[] }
  | { kind: "operation-reverted"; operation: string; id: string; by: string }
  | { kind: "branch-moved-since"; restore: string; safetyStep: string }
  | { kind: "fork-made-again"; fork: string }
  | { kind: "nothing-named"; step: string }
  | { kind: "safety-step-gone"; step: string; restore: RestoreKind }
  | { kind: "target-step-gone"; step: string; restore: RestoreKind; safetyStep: string }
  // The plan is applied.
  | { kind: "restore-running" }
  | { kind: "restore-unfinished"; events: readonly RestoreNote[]; safetyStep: string }
  | { kind: "changed-since-plan"; path: string }
  | { kind: "obstacle"; conflict: Conflict; more: number }
  | { kind: "no-space" }
  | { kind: "not-checked-out"; path: string }
  | { kind: "checkout-failed"; reason: string }
  /** `code`: of the system's error. `unchanged`: no file was touched before. */
  | { kind: "file-not-restored"; path: string; code: string | null; reason: string; unchanged: boolean }
  | { kind: "became-directory"; path: string }
  | { kind: "written-by-other"; path: string }
  | { kind: "parent-not-a-directory"; path: string; parent: string }
  /** An interrupted restore that failed: `reason` in words, if it was recorded. */
  | { kind: "failed-before"; reason: string | null }
  | { kind: "rolled-back"; reason: string; hint: string | undefined; notes: readonly RestoreNote[] }
  | { kind: "partly-restored"; reason: string; rollback: string; safetyStep: string }
  // Conversations.
  | { kind: "conversation-exists"; path: string }
  | { kind: "conversation-outside" }
  | { kind: "nothing-to-hand-off"; reason: NoConversation }
  | { kind: "transcript-unreadable"; agent: string };

/** A turn, or a subagent's work in it, by the step that represents it. */
export interface NamedTurn {
  step: string;
  isSubagent: boolean;
  prompt: string | null;
}

export class RestoreError extends ProblemError<RestoreProblem> {}
