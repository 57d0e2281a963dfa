/** What going back is made of: where to, what would be done, what was done. docs/formats/restores.md specifies what is kept. */
import type { TreeEntry } from "../git/trees.ts";
import type { Step } from "../steps/model.ts";
import type { Change } from "./take-back.ts";
import type { FoundTurn } from "./turns.ts";

/** A state to go to. */
export type Place = StepTarget | CommitTarget;

export type Target = Place | TurnsTarget;

export interface StepTarget {
  kind: "step";
  step: Step;
}

export interface CommitTarget {
  kind: "commit";
  commit: string;
  tree: string;
}

/** Turns that are taken out of the present, wherever that leads. */
export interface TurnsTarget {
  kind: "turns";
  /** The newest first. */
  turns: FoundTurn[];
  /** The fork whose work is brought here instead, by the same kind of merge. */
  fork?: string;
}

/** Changes that are taken back by merging, so that what came later stays. */
export interface Merge {
  /** The newest first. */
  changes: Change[];
  /** Files that nobody can tell apart: somebody else changed them at the same time. */
  shared: Conflict[];
  /** Write what conflicts into the files, between markers. */
  markers: boolean;
  /** Where turns ended that came after all of these, the oldest first, to tell who changed the same lines; or null. */
  later: readonly Step[] | null;
}

export interface RewindOptions {
  codeOnly?: boolean;
  chatOnly?: boolean;
  /** Patterns of the files to restore; all of them unless given. */
  paths?: readonly string[];
  /** Also move the branch back to the step's commit. */
  resetHead?: boolean;
  /** Agents' own directories too: for a work tree that nobody has worked in yet. */
  everything?: boolean;
  /** Let the conversation's copy end with an account of what was undone. */
  tellAgent?: boolean;
  /** Why, in the user's words, for that account. */
  reason?: string;
}

export interface NotUndone {
  what: string;
  why: string;
  /** In conflict, and nothing that markers could show: it was asked for, and is not done. */
  unsettled?: true;
  /** What the agent ran that did it. */
  command?: string;
}

/**
 * Something stands in the way that is not ours to remove, or lines that were changed since: nothing is touched while
 * there is one, unless it is to be shown in the file itself.
 */
export interface Conflict {
  path: string;
  why: string;
  /** It will be written into the file, between markers. */
  markers?: true;
}

/** A path that will hold `entry`; `raw` names its exact bytes where git's filters would not give them. */
export interface PlannedWrite {
  path: string;
  entry: TreeEntry;
  raw: string | null;
}

export interface PlannedChmod {
  path: string;
  mode: string;
}

/** What happens to files. Deletes come first, then writes. */
export interface FilePlan {
  write: PlannedWrite[];
  delete: string[];
  chmod: PlannedChmod[];
}

export interface HeadMove {
  from: string;
  to: string;
}

export type ChatPlan =
  /** A copy of the conversation, cut at the step. */
  | { kind: "fork"; agent: string; step: Step }
  /** A session that goes on as it is. */
  | { kind: "resume"; agent: string; session: string; transcript: string; command: string }
  | { kind: "none"; why: string };

export interface RewindPlan {
  kind: RestoreKind;
  target: Target;
  options: RewindOptions;
  /** The restore that this one takes back. */
  takesBack: string | null;
  /** For what is taken back by merging. */
  merge: Merge | null;
  write: string[];
  delete: string[];
  chmod: string[];
  notUndone: NotUndone[];
  conflicts: Conflict[];
  /** Whether what is staged comes back too. */
  restoresIndex: boolean;
  head: HeadMove | null;
  chat: ChatPlan;
}

/** `fork`: the files of a new work tree, which nobody would take back. `take`: what a fork has made. */
export type RestoreKind = "rewind" | "redo" | "undo" | "fork" | "take";

export interface ChatReceipt {
  agent: string;
  session: string;
  transcript: string;
  command: string;
}

export interface Receipt {
  /** Of this restore, in the list that `redo` goes through. */
  id: string;
  safetyStep: string;
  written: number;
  deleted: number;
  chat: ChatReceipt | null;
  /** What the user should know: files kept aside, staged state left, why there is no conversation. */
  notes: string[];
}

/** Conflicts that keep a plan from being carried out. */
export function obstacles(plan: RewindPlan): Conflict[] {
  return plan.conflicts.filter(({ markers }) => !markers);
}

/** The plan as `--json` prints it. */
export function planJson(plan: RewindPlan) {
  const { write, delete: removed, chmod, conflicts } = plan;
  const notUndone = plan.notUndone.map(({ unsettled, ...said }) => said);
  return { write, delete: removed, chmod, notUndone, conflicts };
}

/** The receipt as `--json` prints it. */
export function receiptJson(receipt: Receipt | null) {
  if (!receipt) return null;
  const { safetyStep, written, deleted, chat, notes } = receipt;
  return { safetyStep, written, deleted, chat, notes };
}

/** Whether applying it would change anything. */
export function isEmptyPlan(plan: RewindPlan): boolean {
  const files = plan.write.length + plan.delete.length + plan.chmod.length;
  return files === 0 && plan.chat.kind === "none" && plan.head === null && !plan.restoresIndex;
}
