/** What making, finding or dropping a fork can fail with, as data. cli/render/words/restore/forks.ts has the sentences. */
import { ProblemError } from "../../base/errors.ts";
import type { LeftFiles } from "../notes.ts";
import type { BlockedPath } from "../owned/walk.ts";

export type ForkProblem =
  | { kind: "forks-locked" }
  | { kind: "fork-unknown"; text: string; names: string[]; closest: string | null }
  | { kind: "fork-ambiguous"; text: string; names: string[] }
  | { kind: "fork-gone"; fork: string }
  | { kind: "fork-unreadable"; fork: string; directory: string }
  | { kind: "fork-is-here"; fork: string; action: "drop" | "take" }
  // Making one.
  | { kind: "folder-has-no-branches" }
  | { kind: "branch-name-invalid"; branch: string }
  | { kind: "branch-exists"; branch: string }
  | { kind: "branch-not-made"; reason: string }
  | { kind: "branch-name-taken"; branch: string; tip: string | null }
  | { kind: "directory-exists" | "directory-in-git" | "directory-in-work-tree"; directory: string }
  | { kind: "directory-has-steps"; directory: string }
  | { kind: "fork-not-made"; directory: string; reason: string }
  /** A filter that is required failed to write a file; `reason` is git's. */
  | { kind: "fork-filter-failed"; directory: string; reason: string }
  | { kind: "fork-vanished"; directory: string }
  | { kind: "fork-source-gone"; step: string }
  | { kind: "fork-step-gone"; step: string; fork: string; branch: string | null; tip: string | null }
  | { kind: "path-missing"; path: string }
  | { kind: "path-not-ignored"; path: string }
  /** Making a fork failed (`reason` and `hint` in words), and clearing it away left files. */
  | { kind: "fork-left-files"; reason: string; hint: string | undefined; left: LeftFiles }
  // Dropping one. In all of these, nothing was changed.
  | { kind: "appeared-in-fork"; path: string; fork: string }
  | { kind: "fork-not-linked"; directory: string; fork: string }
  | { kind: "fork-missing"; directory: string; fork: string; why: "locked" | "moved" }
  | { kind: "fork-replaced"; directory: string }
  | { kind: "repository-not-moved"; from: string; to: string }
  | { kind: "repository-elsewhere"; path: string }
  | { kind: "commits-not-kept" }
  | { kind: "ignored-unknown"; directory: string; reason: string }
  | { kind: "directory-gone"; directory: string }
  | { kind: "directory-replaced"; directory: string }
  | { kind: "aside-exists"; directory: string }
  | { kind: "not-removed"; directory: string; reason: string }
  | { kind: "blocked"; directory: string; first: BlockedPath; more: number }
  | { kind: "file-unreadable"; path: string; reason: string };

export class ForkError extends ProblemError<ForkProblem> {}
