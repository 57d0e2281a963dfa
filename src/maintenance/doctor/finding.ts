/** The findings of `doctor`: a problem is a broken invariant; a warning is worth knowing but breaks nothing. */
import { relative } from "node:path";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { DoctorFact } from "./facts.ts";

export type CheckName =
  | "git"
  | "store"
  | "modes"
  | "size"
  | "steps"
  | "objects"
  | "saves"
  | "locks"
  | "restores"
  | "turns"
  | "queue"
  | "sync"
  | "clock"
  | "hooks"
  | "scope"
  | "git hooks"
  | "mcp"
  | "versions"
  | "settings"
  | "entire"
  | "log";

export interface Finding {
  check: CheckName;
  level: "ok" | "warning" | "problem";
  fact: DoctorFact;
  /** Whether `repair` can fix the finding. */
  fixable: boolean;
}

export interface DoctorOptions {
  /** The path by which hooks should call Backtrail. */
  executable: string;
  /** The directory of the logs of headless runs. */
  logs?: string;
  /** Also run slow informational checks: the store's size and the agents' versions. */
  thorough?: boolean;
}

export function ok(check: CheckName, fact: DoctorFact): Finding {
  return { check, level: "ok", fact, fixable: false };
}

export function warning(check: CheckName, fact: DoctorFact, fixable = false): Finding {
  return { check, level: "warning", fact, fixable };
}

export function problem(check: CheckName, fact: DoctorFact, fixable = false): Finding {
  return { check, level: "problem", fact, fixable };
}

/** The path relative to the work tree's root, if it is inside. */
export function within({ root }: Workspace, file: string): string {
  return isInside(root, file) ? relative(root, file) : file;
}
