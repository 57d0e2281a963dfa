/** Side effects that a restore does not undo, as data. cli/render/words/restore/side-effects.ts has the text. */
import type { NotCaptured } from "../../model/step.ts";
import type { ConflictReason } from "../types.ts";
import type { FileEffect } from "./file-effects.ts";
import type { CommandEffect } from "./shell.ts";

/** `by`: the responsible command or tool, if known. */
export type SideEffect =
  | FileEffect
  | { kind: "left-alone"; path: string; reason: LeftReason }
  /** `isGone`: the file existed before and can't be recovered. */
  | { kind: "not-captured"; path: string; reason: NotCaptured["why"]; isGone: boolean }
  /** A conflict that markers can't show: requested, but not done. */
  | { kind: "unresolved"; path: string; reason: ConflictReason }
  /** `count` is null if `from` is unknown or does not lead to `to`. */
  | { kind: "commits"; from: string | null; to: string; count: number | null; newest: string[]; by?: string }
  | { kind: "branch" | "tag" | "stash"; name: string; by?: string }
  | { kind: "branch-switched"; then: string | null; now: string | null }
  | { kind: "branch-not-moved" }
  /** `files`: how many of the plan's files are staged; null for the whole index. */
  | { kind: "staged"; files: number | null }
  | { kind: "in-progress"; operation: GitOperation }
  | { kind: "agent-running"; agent: string; prompt: string | null }
  /** `branchMoves`: the restore moves the current branch, and with it undoes part of what a git command did. */
  | { kind: "command"; command: string; effects: CommandEffect[]; branchMoves?: true }
  | { kind: "conversation-unread"; bytes: number }
  /** The list was truncated: `count` more like this one. */
  | { kind: "more"; count: number; like: SideEffect };

export type GitOperation = "merge" | "rebase" | "cherry-pick" | "revert";

/** The reason a restore does not touch a path. */
export type LeftReason =
  | { kind: "unsafe-path" | "ignored-then" | "unwatched" | "in-the-way" }
  | { kind: "agents-own"; directory: string }
  | { kind: "not-captured"; reason: NotCaptured["why"]; when: "now" | "then" };

/** Newly created commits, branches, tags and stashes. */
export type GitChanges = Extract<SideEffect, { kind: "commits" | "branch" | "tag" | "stash" }>;

/** The affected file; null if none or many. */
export function effectPath(effect: SideEffect): string | null {
  return "path" in effect ? effect.path : null;
}
