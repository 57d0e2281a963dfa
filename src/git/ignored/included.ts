/**
 * Finds ignored files that the user includes in steps (`capture.include`). Loaded only if there are such patterns.
 * Walks the work tree unless every pattern names its directory.
 */

import { readdirSync } from "node:fs";
import { statIfPresent } from "../../base/fs/files.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { decodePath, onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { globMatcher } from "../../base/runtime.ts";
import { pathsAtNul } from "../conversion/conversion.ts";
import { gitIn } from "../git.ts";
import type { Workspace } from "../workspace.ts";

/** Included files are settings and keys; more than this many are something else. */
const MAX_INCLUDED = 100;
/** More names than this would bloat a step. */
const MAX_NAMED = 300;
const MAX_LISTED = 1_000;

export interface IncludedFiles {
  paths: string[];
  /** Matches beyond the limit. */
  tooMany: string[];
}

interface Patterns {
  include: readonly string[];
  exclude: readonly string[];
  timeoutMs: number;
}

/** Returns null if the search fails or finds too many files; a step must then not claim a complete search. */
export async function findIncluded(
  workspace: Workspace,
  { include, exclude, timeoutMs }: Patterns,
): Promise<IncludedFiles | null> {
  const [sure, others] = [include.filter(isAnchored), include.filter((pattern) => !isAnchored(pattern))];
  const found = new Set(sure.flatMap((pattern) => lookedUp(workspace.root, pattern)));
  if (others.length > 0) {
    const listed = await ignoredFiles(workspace, timeoutMs);
    if (listed === null) return null;
    for (const path of listed.filter(pathMatcher(others))) found.add(path);
  }
  const isExcluded = pathMatcher(exclude);
  const isOurs = pathMatcher(["/.backtrail", "/.entire", "/.aiwr", ".git"]);
  const paths = [...found].filter((path) => !isExcluded(path) && !isOurs(path)).sort();
  if (paths.length > MAX_NAMED) return null;
  return { paths: paths.slice(0, MAX_INCLUDED), tooMany: paths.slice(MAX_INCLUDED) };
}

/** Whether a pattern names its directory, so that listing that directory finds every match. */
export function isAnchored(pattern: string): boolean {
  const name = pattern.replace(/^\.?\//, "");
  const isRooted = name.includes("/") || name !== pattern;
  return isRooted && !isGlob(parentOf(name)) && !name.includes("**") && !pattern.startsWith("!") && !name.endsWith("/");
}

function isGlob(text: string): boolean {
  return /[*?[\]{}\\]/.test(text);
}

function lookedUp(root: string, pattern: string): string[] {
  const name = pattern.replace(/^\.?\//, "");
  const directory = parentOf(name);
  if (name.split("/").some((part) => part === "" || part === "..") || !isPlainDirectory(root, directory)) return [];
  if (!isGlob(name)) return isFile(root, name) ? [name] : [];
  const names = readdirSync(onDisk(root, directory), { encoding: "buffer" }).slice(0, MAX_LISTED).map(decodePath);
  const matches = globMatcher(name);
  const paths = names.map((entry) => (directory === "." ? entry : `${directory}/${entry}`));
  return paths.filter((path) => matches(path) && isFile(root, path));
}

/** Whether every component is a real directory, so that no link leads out of the work tree. */
function isPlainDirectory(root: string, directory: string): boolean {
  if (directory === ".") return true;
  const stat = statIfPresent(onDisk(root, directory));
  return (stat?.isDirectory() ?? false) && isPlainDirectory(root, parentOf(directory));
}

function isFile(root: string, path: string): boolean {
  const stat = statIfPresent(onDisk(root, path));
  return stat !== undefined && (stat.isFile() || stat.isSymbolicLink());
}

/** Skips directories that are ignored as a whole, such as `node_modules`. */
async function ignoredFiles(workspace: Workspace, timeoutMs: number): Promise<string[] | null> {
  const ask = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const { code, stdout } = await gitIn(workspace).try(ask, { timeoutMs });
  return code === 0 ? pathsAtNul(stdout).filter((path) => !path.endsWith("/")) : null;
}
