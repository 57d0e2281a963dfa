/** The types of a restore: target, plan and receipt. docs/formats/restores.md specifies what is stored. */
import type { TreeEntry } from "../git/objects/trees.ts";
import type { ShownCommand } from "../model/command.ts";
import type { Step } from "../model/step.ts";
import type { PlannedTurn } from "./changes/turns.ts";
import type { NoConversation, RestoreNote } from "./notes.ts";
import type { Reversal } from "./operations/reversal.ts";
import type { RecordedFile } from "./plan/files.ts";
import type { Change } from "./revert/revert.ts";
import type { SideEffect } from "./side-effects/model.ts";
import type { FoundTurn } from "./targets/turns.ts";

/** A state to restore. */
export type StateTarget = StepTarget | CommitTarget;

export type Target = StateTarget | TurnsTarget;

interface StepTarget {
  kind: "step";
  step: Step;
}

export interface CommitTarget {
  kind: "commit";
  commit: string;
  tree: string;
  /** The checkpoint that named this commit. */
  checkpoint?: string;
}

/** Turns to revert out of the current files. */
export interface TurnsTarget {
  kind: "turns";
  /** Newest first. */
  turns: FoundTurn[];
  /** The fork whose work is merged in instead, by the same kind of merge. */
  fork?: string;
  /** The turns of that fork, newest first. */
  brought?: PlannedTurn[];
}

/** Changes to revert by merging, which keeps later changes. */
export interface Merge {
  /** Newest first. */
  changes: Change[];
  /** Files without a clear attribution: another turn changed them at the same time. */
  shared: Conflict[];
  /** Write conflict markers into the files. */
  markers: boolean;
  /** End steps of turns after all of these, oldest first, to attribute conflicting lines; or null. */
  later: readonly Step[] | null;
}

export interface RewindOptions {
  codeOnly?: boolean;
  chatOnly?: boolean;
  /** Patterns of the files to restore. Defaults to all files. */
  paths?: readonly string[];
  /** Also move the branch back to the step's commit. */
  resetHead?: boolean;
  /** Revert only changes made by turns and keep the user's own changes since the target. */
  keepMine?: boolean;
  /** With `keepMine`: write conflict markers into the files instead of refusing. */
  markers?: boolean;
  /** Restore agents' own directories too: for a newly created work tree. */
  everything?: boolean;
  /** Append an undo notice to the copy of the conversation. */
  tellAgent?: boolean;
  /** The user's reason, for that notice. */
  reason?: string;
  /** The agent's proposal that the user applies; the reason is then the agent's. */
  proposal?: AppliedProposal | undefined;
}

export interface AppliedProposal {
  id: string;
  /** The key of the session that proposed it: it receives the notice even if it is closed. */
  by: string | null;
}

/**
 * An obstacle that is not ours to remove, or lines that changed since. Blocks the whole restore, unless conflict
 * markers can show it in the file.
 */
export interface Conflict {
  path: string;
  reason: ConflictReason;
  /** The conflict is written into the file, between markers. */
  markers?: true;
}

export type ConflictReason =
  /** An unrecorded file is at a target path: `parent` should be a directory. */
  | { kind: "obstacle"; parent: string; type: "symlink" | "file" | "special-file" }
  /** Another turn changed the file at the same time. */
  | { kind: "shared"; by: ConflictSource }
  /** The file was changed since; `by` whom, if that is known. */
  | { kind: MergeConflictKind; by?: ConflictSource };

export type MergeConflictKind =
  | "same-lines"
  | "binary"
  | "removed-and-changed"
  | "created-and-changed"
  | "deleted"
  | "changed"
  | "not-plain"
  | "moved";

export type ConflictSource =
  | { kind: "turn"; agent: string; step: string }
  | { kind: "subagent"; name: string }
  | { kind: "running-turn" }
  | { kind: "outside-turns" };

/** A file to write. `raw` names its exact bytes if git's filters would not reproduce them. */
export interface PlannedWrite {
  path: string;
  entry: TreeEntry;
  raw: string | null;
  /** All mode bits. If unknown, the replaced file's bits or those of a checkout apply. */
  permissions?: number;
  /** Write a real symbolic link even if `core.symlinks` makes git write a plain file. */
  link?: true;
}

export interface PlannedChmod {
  path: string;
  mode: string;
  /** All mode bits, if known. */
  permissions?: number;
}

export interface PlannedDirectory {
  path: string;
  permissions: number;
}

/** File operations, in order: deletes, then writes. */
export interface FilePlan {
  write: PlannedWrite[];
  delete: string[];
  chmod: PlannedChmod[];
  /** Directories to create with, or change to, these permissions. */
  directories?: PlannedDirectory[];
}

/** The exact content that is replaced, and its replacement. */
interface FileEffects {
  files: FilePlan;
  /** The current entries at the paths that are deleted or written. */
  replaced: ReadonlyMap<string, RecordedFile>;
}

/** A file in the plan that contains the user's own changes. */
export interface YourFile {
  path: string;
  /** ISO time. */
  since: string;
  /** The user's changes stay; only those of turns are reverted. */
  kept: boolean;
}

export interface HeadMove {
  from: string;
  to: string;
}

export type ChatPlan =
  /** A copy of the conversation, cut at the step. */
  | { kind: "fork"; agent: string; step: Step }
  /** An existing session to continue unchanged. */
  | ({ kind: "resume"; agent: string; session: string; transcript: string } & ShownCommand)
  | { kind: "none"; reason: NoConversation };

export interface RestorePlan {
  kind: RestoreKind;
  target: Target;
  options: RewindOptions;
  /** The restore that this one reverts. */
  takesBack: string | null;
  /** That restore, and how reverting it affects turns. */
  reverses?: Reversal | undefined;
  /** Set if changes are reverted by merging. */
  merge: Merge | null;
  write: string[];
  /** The paths of `write` that do not exist now. */
  create: string[];
  delete: string[];
  chmod: string[];
  effects: FileEffects;
  /** The turns to revert; for `take`, those to merge in. Newest first. */
  turns: PlannedTurn[];
  /** Undone turns that a rewind to before their undo brings back; absent if there are none. */
  bringsBack?: PlannedTurn[] | undefined;
  yours: YourFile[];
  notUndone: SideEffect[];
  conflicts: Conflict[];
  /** True if the index is restored too. */
  restoresIndex: boolean;
  head: HeadMove | null;
  chat: ChatPlan;
  /** Set if the replaced files exceed the size limit for steps: how long the safety step keeps them anyway. */
  oversized: OversizedSafety | null;
}

export interface OversizedSafety {
  /** Size of the files on disk; a step may need less. */
  bytes: number;
  /** `retention.max_size`. */
  limit: number;
  /** ISO time. */
  keptUntil: string;
}

/** `fork`: the files of a new work tree, which are never reverted. `take`: the work of a fork. */
export type RestoreKind = "rewind" | "redo" | "undo" | "fork" | "take";

export interface ChatReceipt extends ShownCommand {
  agent: string;
  session: string;
  transcript: string;
}

/** Replaced content that no safety step holds; `place` is its new location. */
export interface KeptFile {
  path: string;
  place: string;
}

/** A session that is open in the work tree. */
export interface OpenSession {
  agent: string;
  /** The agent's name for people. */
  name: string;
  session: string;
  title: string | null;
  /** True during a turn. */
  working: boolean;
  /** The session's next prompt carries a notice of the restore. */
  notified: boolean;
}

export interface Receipt {
  /** The id of this restore in the restore log. */
  id: string;
  safetyStep: string;
  written: number;
  deleted: number;
  chat: ChatReceipt | null;
  kept: KeptFile[];
  /** If files or the branch changed: sessions that still know the old state. */
  openSessions: OpenSession[];
  /** For the user: files kept aside, index left alone, why there is no conversation. */
  notes: RestoreNote[];
}

/** Conflicts that block a plan. */
export function obstacles(plan: RestorePlan): Conflict[] {
  return plan.conflicts.filter(({ markers }) => !markers);
}

/** True if applying the plan would change nothing. */
export function isEmptyPlan(plan: RestorePlan): boolean {
  const files = plan.write.length + plan.delete.length + plan.chmod.length;
  // A rewind that resumes an existing conversation does not change it.
  const leavesChat = plan.chat.kind === "none" || (plan.kind === "rewind" && plan.chat.kind === "resume");
  return files === 0 && leavesChat && plan.head === null && !plan.restoresIndex;
}
