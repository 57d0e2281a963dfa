/**
 * Records ignore rules outside any tree: the user's excludes file, `info/exclude` and `capture.exclude`. A step
 * references them, so that a later reader can tell whether a file that the step lacks was missing or only ignored.
 */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isAbsence } from "../../base/errors.ts";
import { decodePath } from "../../base/fs/path-bytes.ts";
import { homeDirectory } from "../../base/paths.ts";
import type { Workspace } from "../workspace.ts";
import { readDetail } from "./details.ts";

/** No real list of patterns is larger. */
const MAX_BYTES = 1 << 20;

export interface IgnoreRules {
  /** Lines as in a .gitignore at the root; later lines override earlier ones. */
  lines: string;
  /** Patterns of untracked files that the settings exclude. */
  exclude: readonly string[];
  /** Patterns of ignored files that the settings include. */
  include?: readonly string[];
}

/** The ignore files; later ones override earlier ones. */
export function ignoreFiles(
  workspace: Pick<Workspace, "commonDir" | "root">,
  configured: string | undefined,
): string[] {
  const own = configured === "" ? [] : [userFile(workspace.root, configured)];
  return [...own, join(workspace.commonDir, "info", "exclude")];
}

function userFile(root: string, configured: string | undefined): string {
  const home = homeDirectory();
  if (configured === undefined) return join(process.env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "ignore");
  return resolve(root, configured.replace(/^~(?=\/)/, home));
}

/** Reads the rules without comments. Returns "" if there are no rules, null if they cannot be read. */
export function readIgnoreLines(files: readonly string[]): string | null {
  const lines: string[] = [];
  for (const file of files) {
    try {
      const bytes = readFileSync(file);
      if (bytes.length > MAX_BYTES) return null;
      lines.push(...decodePath(bytes).split("\n").filter(isRule));
    } catch (error) {
      if (!isAbsence(error)) return null;
    }
  }
  return lines.join("\n");
}

function isRule(line: string): boolean {
  return line !== "" && line !== "\r" && !line.startsWith("#");
}

/** Serializes the rules as a step's detail; null if there are none. */
export function ignoreDetail(
  lines: string,
  exclude: readonly string[],
  include: readonly string[] = [],
): string | null {
  if (lines === "" && exclude.length === 0 && include.length === 0) return null;
  const rules: IgnoreRules = { lines, exclude, ...(include.length > 0 ? { include } : {}) };
  return JSON.stringify({ v: 1, ...rules });
}

/** Reads the rules that a step recorded. Returns undefined if it recorded none or their detail is missing. */
export function recordedRules(workspace: Workspace, id: string | null | undefined): IgnoreRules | undefined {
  if (id === undefined) return undefined;
  if (id === null) return { lines: "", exclude: [] };
  try {
    const rules = JSON.parse(readDetail(workspace, id) ?? "null") as Partial<IgnoreRules & { v: 1 }> | null;
    const isWhole =
      rules?.v === 1 &&
      typeof rules.lines === "string" &&
      [rules.exclude, rules.include ?? []].every((patterns) => Array.isArray(patterns));
    return isWhole ? (rules as IgnoreRules) : undefined;
  } catch {
    return undefined;
  }
}
