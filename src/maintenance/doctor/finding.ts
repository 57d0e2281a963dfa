/** The findings of `doctor`: a problem is a broken invariant; a warning is worth knowing but breaks nothing. */
import { relative } from "node:path";
import { isInside } from "../../base/paths.ts";
import { shownPath } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";

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
  message: string;
  hint: string | null;
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

const SHOWN = 5;
export const FIX = "`backtrail doctor --fix` puts that right.";

export function ok(check: CheckName, message: string): Finding {
  return { check, level: "ok", message, hint: null, fixable: false };
}

export function warning(check: CheckName, message: string, hint: string | null, fixable = false): Finding {
  return { check, level: "warning", message, hint, fixable };
}

export function problem(check: CheckName, message: string, hint: string | null, fixable = false): Finding {
  return { check, level: "problem", message, hint, fixable };
}

/** The path to display, relative to the work tree's root if inside it. */
export function within({ root }: Workspace, file: string): string {
  return shownPath(isInside(root, file) ? relative(root, file) : file);
}

export function some(names: readonly string[]): string {
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} …` : names.join(", ");
}
