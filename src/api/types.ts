/** Library API: the stable fields of plans and receipts. The internal types have more fields. */

/** The effects of a restore. Paths are relative to the work tree's root. */
export interface RestorePlan {
  readonly kind: "rewind" | "undo" | "redo" | "fork" | "take";
  /** Files that will be created or replaced. */
  readonly write: readonly string[];
  /** The subset of `write` that does not exist yet. */
  readonly create: readonly string[];
  /** The turns that the plan reverts or brings here. */
  readonly turns: readonly PlannedTurn[];
  /** Undone turns that a rewind to before their undo brings back; absent if there are none. */
  readonly bringsBack?: readonly PlannedTurn[];
  /** The user's own changes to the affected files. */
  readonly yours: readonly { readonly path: string; readonly since: string | null; readonly kept: boolean }[];
  readonly delete: readonly string[];
  /** Files whose permissions alone change. */
  readonly chmod: readonly string[];
  /** Side effects that no restore can revert, such as ignored files and published commits. */
  readonly notUndone: readonly SideEffect[];
  /** `applyRestore` refuses the plan while a conflict has no markers. */
  readonly conflicts: readonly Conflict[];
  /** Whether the restore also covers the staged state. */
  readonly restoresIndex: boolean;
  /** The branch's move, if `resetHead` was set. */
  readonly head: { readonly from: string; readonly to: string } | null;
  readonly chat: ConversationPlan;
}

export interface PlannedTurn {
  /** The step that represents the turn. */
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly turn: number;
  readonly prompt: string | null;
}

export interface SideEffect {
  /** The kind of side effect, for programs: `ignored-file`, `commits`, `command`, and so on. */
  readonly kind?: string;
  readonly what: string;
  readonly why: string;
  /** The agent's command that caused the side effect. */
  readonly command?: string;
}

export interface Conflict {
  readonly path: string;
  /** The kind of conflict, for programs: `same-lines`, `deleted`, `obstacle`, and so on. */
  readonly kind: string;
  readonly why: string;
  /** The restore writes the conflict into the file, between markers. */
  readonly markers?: true;
  /** The step of the recorded turn that changed the file since, if it was one. */
  readonly turn?: string;
}

export type ConversationPlan =
  /** The agent receives a copy of the conversation that ends at the target. */
  | { readonly kind: "fork"; readonly agent: string }
  /** The agent continues an earlier session. */
  | { readonly kind: "resume"; readonly agent: string; readonly session: string; readonly command: string }
  /** `reason` is for programs: `no-transcript`, `begins-later`, `code-only`, and so on. */
  | { readonly kind: "none"; readonly reason: string; readonly why: string };

/** The result of a restore. */
export interface Receipt {
  readonly id: string;
  /** The step that holds the whole state from before the restore. */
  readonly safetyStep: string;
  readonly written: number;
  readonly deleted: number;
  /** The session that continues the conversation, and the command that starts it. */
  readonly chat: {
    readonly agent: string;
    readonly session: string;
    readonly transcript: string;
    readonly command: string;
  } | null;
  /** Content at a target path that is in no step; `place` is its new path. */
  readonly kept: readonly { readonly path: string; readonly place: string }[];
  /** Sessions that are open in the work tree and still know the old state. */
  readonly openSessions: readonly {
    readonly agent: string;
    readonly name: string;
    readonly session: string;
    readonly title: string | null;
    readonly working: boolean;
  }[];
  /** Sentences for the user. */
  readonly notes: readonly string[];
  /** The same notes as data: a kind, and the values that the sentence has. */
  readonly facts: readonly { readonly kind: string }[];
}

export interface RewindOptions {
  /** Restore only the files. */
  codeOnly?: boolean;
  /** Restore only the conversation. */
  chatOnly?: boolean;
  /** Restore only these files: patterns as in .gitignore. */
  paths?: readonly string[];
  /** Also move the branch back to the commit of the target. */
  resetHead?: boolean;
  /** End the copy of the conversation with a report of what was undone. */
  tellAgent?: boolean;
  /** The reason to give in that report. */
  reason?: string;
}

export interface UndoOptions {
  /** Write conflicts into the files, between markers, instead of refusing. */
  markers?: boolean;
  /** Numbers and `last` count the turns of this session only. */
  session?: string;
  tellAgent?: boolean;
  reason?: string;
}

export interface ApplyOptions {
  /** Refuse if the files changed since the plan was made: for plans that a person has read. */
  ifUnchanged?: boolean;
}
