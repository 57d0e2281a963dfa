/** What an examination finds: a problem is a broken invariant, a warning is worth knowing and breaks nothing. */
import { relative } from "node:path";
import { isInside } from "../base/paths.ts";
import { shownPath } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";

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
  | "git hooks"
  | "versions"
  | "settings"
  | "log";

export interface Finding {
  check: CheckName;
  level: "ok" | "warning" | "problem";
  message: string;
  hint: string | null;
  /** Whether `repair` puts it right. */
  fixable: boolean;
}

export interface DoctorOptions {
  /** The path by which hooks should call us. */
  executable: string;
  /** Also what takes its time and breaks nothing: how large the store is, which versions the agents have. */
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

/** From the work tree's root where it lies in it. */
export function within({ root }: Workspace, file: string): string {
  return shownPath(isInside(root, file) ? relative(root, file) : file);
}

export function some(names: readonly string[]): string {
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} …` : names.join(", ");
}
