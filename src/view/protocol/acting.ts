/** Protocol of `backtrail view`: plans, receipts and the proposals of agents. */
import type { ForkRow } from "./sessions.ts";

export type PlanRequest =
  | {
      action: "rewind";
      /** `before` and `after` a turn, or exactly the given step. */
      target: string;
      side: "before" | "after" | "exact";
      codeOnly?: boolean;
      chatOnly?: boolean;
      paths?: string[];
      /** End the copy of the conversation with a notice of what was undone, and the reason. */
      tellAgent?: boolean;
      reason?: string;
    }
  | { action: "undo"; turns: string[]; markers?: boolean; tellAgent?: boolean; reason?: string }
  | { action: "redo"; markers?: boolean }
  | { action: "fork"; target: string; branch?: string }
  | { action: "save"; name: string | null }
  | { action: "resume"; session: string }
  /** A proposal of an agent, drawn up again for the current files. */
  | { action: "proposal"; proposal: string };

export type PlanAnswer = RestorePlanAnswer | ForkPlanAnswer | SavePlanAnswer | ResumePlanAnswer;

interface PlanBase {
  /** For `apply`; valid for ten minutes, once. */
  id: string;
  /** The plan changes nothing. */
  empty: boolean;
  /** Why `apply` would refuse, as a sentence; null if it would not. */
  blocked: string | null;
}

export interface RestorePlanAnswer extends PlanBase {
  action: "rewind" | "undo" | "redo";
  /** As `--json` of the command prints it, with placeholders for secrets. */
  plan: RestorePlan;
  /** The recorded turns among those that `plan.conflicts` name. */
  conflicting: ConflictingTurn[];
  /** `changes` and `fileDiff` compare these states: the current files with the planned ones. Null for an undo. */
  preview: { from: string; to: string } | null;
  restoresIndex: boolean;
  head: { from: string; to: string } | null;
  chat:
    | { kind: "fork"; agent: string }
    | { kind: "resume"; agent: string; session: string; command: string }
    | { kind: "none"; reason: string; why: string };
  /** Sessions with a turn in progress in this work tree. */
  working: { agent: string; session: string; title: string | null }[];
  /** The proposal that the plan is of. `isStale`: the files changed since, and this is the plan for them now. */
  proposal?: { id: string; agent: string | null; reason: string; isStale: boolean };
}

export interface ConflictingTurn {
  /** As in `plan.conflicts`. */
  step: string;
  /** A target for `turn`. */
  id: string;
  agent: string;
  prompt: string | null;
}

interface PlannedTurn {
  id: string;
  agent: string;
  session: string;
  turn: number;
  prompt: string | null;
  /** Only the work of this subagent. */
  subagent?: string;
  partial?: true;
  running?: true;
}

export interface RestorePlan {
  write: string[];
  delete: string[];
  chmod: string[];
  create: string[];
  notUndone: { kind?: string; what: string; why: string; command?: string }[];
  /** `turn`: the step of the turn that changed the file since, if it was one. */
  conflicts: { path: string; why: string; markers?: true; turn?: string }[];
  turns: PlannedTurn[];
  /** Undone turns that a rewind to before their undo brings back. */
  bringsBack?: PlannedTurn[];
  /** The user's own changes to these files. */
  yours: { path: string; since: string | null; kept: boolean }[];
}

export interface ForkPlanAnswer extends PlanBase {
  action: "fork";
  /** The step or commit that the fork begins at. */
  from: string;
  branch: string | null;
  directory: string | null;
  /** Whether the conversation continues there. */
  chat: boolean;
}

interface SavePlanAnswer extends PlanBase {
  action: "save";
  name: string | null;
  /** The step that had the name before; it is kept. */
  previous: string | null;
}

/** Nothing to apply: the command is for the user's terminal. */
interface ResumePlanAnswer extends PlanBase {
  action: "resume";
  agent: string;
  session: string;
  command: string;
}

export type ApplyAnswer =
  | { result: "restored"; receipt: Receipt; operation: string }
  | { result: "forked"; fork: ForkRow; notes: string[] }
  | { result: "saved"; step: string; name: string | null }
  /** The files changed since the plan was drawn up. Nothing was done; here is the plan for the files as they are. */
  | { result: "stale"; plan: PlanAnswer };

export interface Receipt {
  safetyStep: string;
  written: number;
  deleted: number;
  chat: { agent: string; session: string; transcript: string; command: string } | null;
  /** Content at a target path; `place` is its new path. */
  kept: { path: string; place: string }[];
  /** What is left to do for the user, such as conflicts to resolve. */
  todo: string[];
  /** The conversation stays as it is, without a notice of what was undone. */
  canTell: boolean;
  openSessions: { agent: string; name: string; session: string; title: string | null; working: boolean }[];
  notes: string[];
}

export type ProposalsAnswer = { available: false } | { available: true; proposals: Proposal[] };

export interface Proposal {
  id: string;
  agent: string | null;
  session: string | null;
  action: "undo" | "rewind";
  /** Why, in the agent's own words. */
  reason: string;
  time: string;
  expires: string;
  /** The turns that would go, at most 20; prompts are shortened. */
  turns: { id: string; agent: string; number: number; prompt: string | null }[];
  /** The files of the plan as it was last drawn up. */
  written: number;
  deleted: number;
}
