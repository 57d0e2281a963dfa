/** Finds files that an agent touched but no step holds: ignored files, and files outside the work tree. */

import { join, relative, resolve } from "node:path";
import { statIfPresent } from "../../base/fs/files.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { isInside } from "../../base/paths.ts";
import { globMatcher } from "../../base/runtime.ts";
import { nulSeparated, pathsAtNul } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import type { IgnoredList } from "../../git/ignored/list.ts";
import { MAX_LISTED } from "../../git/ignored/list.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type AgentAction, shownCommand } from "./actions.ts";
import { type IgnoredChange, ignoredChanges, isBelow } from "./ignored-changes.ts";
import { type TouchedPath, touchedPaths } from "./touched-paths.ts";

/** `by`: the responsible command or tool, if known. */
export type FileEffect =
  | { kind: "ignored-file"; path: string; isDirectory: boolean; change: IgnoredFileChange; to?: string; by?: string }
  | { kind: "outside-file"; path: string; by?: string }
  /** A command removed ignored files without naming them, and no list shows which. */
  | { kind: "ignored-files-removed"; by: string }
  /** There were too many ignored files to compare all of them. */
  /** More than `limit` files, so not all of them were compared. */
  | { kind: "ignored-files-cut"; limit: number };

/** `written`: created or changed. `maybe-removed`: a command names the file, but whether it existed is unknown. */
export type IgnoredFileChange = IgnoredChange["change"] | "written" | "maybe-removed";

/** The ignored files at the start and end of a time span. */
export interface IgnoredSpan {
  before: IgnoredList | undefined;
  after: IgnoredList | undefined;
  /** Start of the span, in milliseconds. */
  from: number;
  /** Paths not to report: steps hold them, or they belong to an agent. */
  isSkipped: (path: string) => boolean;
}

interface Touch extends TouchedPath {
  by: string | undefined;
}

/** Sort order: unrecoverable changes first, because long lists are truncated. */
const RANK: Record<IgnoredFileChange, number> = {
  removed: 0,
  moved: 1,
  "maybe-removed": 2,
  changed: 3,
  created: 4,
  written: 4,
};

export async function fileEffects(
  workspace: Workspace,
  actions: readonly AgentAction[],
  looking: Promise<IgnoredSpan>,
): Promise<FileEffect[]> {
  const touches = actions.flatMap((action) => touchesOf(action));
  const inside = touches.filter(({ path }) => path !== workspace.root && isInside(workspace.root, path));
  // Each asks git, in parallel.
  const [touched, span] = await Promise.all([namedChanges(workspace, inside), looking]);
  const { isSkipped } = span;
  const known = knownChanges(workspace, span).filter(({ path }) => !isSkipped(path));
  const named = touched.filter(
    ({ path }) => !isSkipped(path) && !known.some((other) => other.path === path || other.to === path),
  );
  const found = [
    // A command may name a file for which the list has only the directory.
    ...known
      .filter(({ path, isDirectory, change }) => !isDirectory || change === "removed" || !isNamed(path, named))
      .map((change) => ({ ...change, ...byOf(responsible(workspace.root, change, inside)) })),
    ...named,
  ];
  const effects: FileEffect[] = found
    .map((change) => ({ kind: "ignored-file" as const, ...change }))
    .sort((a, b) => RANK[a.change] - RANK[b.change] || (a.path < b.path ? -1 : 1));
  return [
    ...effects,
    ...(span.before ? [] : unnamedRemovals(inside)),
    ...(span.before?.cut || span.after?.cut ? [{ kind: "ignored-files-cut" as const, limit: MAX_LISTED }] : []),
    ...outside(workspace, touches),
  ];
}

function touchesOf({ files, command, cwd, tool }: AgentAction): Touch[] {
  const by = command === null ? (tool ?? undefined) : shownCommand(command);
  const written = files.map((name) => ({ path: resolve(cwd, name), how: "write" as const, isPattern: false, by }));
  const named = command === null ? [] : touchedPaths(command, cwd, isDirectoryAt);
  return [...written, ...named.map((touch) => ({ ...touch, by }))];
}

function knownChanges(workspace: Workspace, { before, after, from }: IgnoredSpan): IgnoredChange[] {
  if (!before || !after) return [];
  return ignoredChanges({ before, after, from, exists: (path) => existsAt(onDisk(workspace.root, path)) });
}

type NamedChange = Omit<Extract<FileEffect, { kind: "ignored-file" }>, "kind">;

/** Changes to files that commands and tools name: an existing file was written, a missing one removed. */
async function namedChanges(workspace: Workspace, touches: readonly Touch[]): Promise<NamedChange[]> {
  const found = new Map<string, NamedChange>();
  const made = new Set<string>();
  for (const { path: absolute, how, isPattern, by } of touches) {
    if (isPattern) continue;
    const path = relative(workspace.root, absolute);
    const isThere = existsAt(absolute);
    if (how === "write" && !found.has(path)) made.add(path);
    if (isThere && how === "write") {
      const isDirectory = isDirectoryAt(absolute);
      if (!found.get(path)?.by) found.set(path, { path, isDirectory, change: "written", ...byOf(by) });
    }
    // A file that the agent both created and removed did not exist before.
    if (!isThere && how === "remove" && !made.has(path))
      found.set(path, { path, isDirectory: false, change: "maybe-removed", ...byOf(by) });
  }
  const ignored = await ignoredAmong(workspace, [...found.keys()]);
  return [...found.values()].filter(({ path }) => ignored.has(path));
}

/** Works for deleted paths too: a rule may match only directories, so each is also checked with a trailing slash. */
async function ignoredAmong(workspace: Workspace, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const names = paths.filter((path) => path !== ".git" && !path.startsWith(".git/"));
  if (names.length === 0) return new Set();
  const asked = names.flatMap((path) => (existsAt(join(workspace.root, path)) ? [path] : [path, `${path}/`]));
  const { code, stdout } = await gitIn(workspace).try(["check-ignore", "-z", "--stdin"], {
    input: nulSeparated(asked),
  });
  // Exit status 1 means that none is ignored.
  return new Set(code === 0 ? pathsAtNul(stdout).map((path) => path.replace(/\/$/, "")) : []);
}

/** The last touch that names the file, a path below or above it, or a matching pattern. */
function responsible(root: string, { path, change }: IgnoredChange, touches: readonly Touch[]): string | undefined {
  const how = change === "removed" || change === "moved" ? "remove" : "write";
  const absolute = join(root, path);
  const names = (touch: Touch) =>
    touch.isPattern
      ? globMatcher(touch.path)(absolute)
      : touch.path === absolute || isBelow(absolute, touch.path) || isBelow(touch.path, absolute);
  const all = touches.filter(names);
  return (all.findLast((touch) => touch.how === how) ?? all.at(-1))?.by;
}

function isNamed(directory: string, named: readonly NamedChange[]): boolean {
  return named.some(({ path }) => isBelow(path, directory));
}

function unnamedRemovals(touches: readonly Touch[]): FileEffect[] {
  const commands = touches.filter(({ path, isPattern }) => isPattern && path.endsWith("/**")).map(({ by }) => by);
  return [...new Set(commands)].flatMap((by) => (by === undefined ? [] : [{ kind: "ignored-files-removed", by }]));
}

function outside({ root }: Workspace, touches: readonly Touch[]): FileEffect[] {
  const found = new Map<string, string | undefined>();
  for (const { path, isPattern, by } of touches)
    if (!isPattern && !isInside(root, path) && !found.get(path)) found.set(path, by);
  return [...found].map(([path, by]) => ({ kind: "outside-file", path, ...byOf(by) }));
}

function byOf(by: string | undefined): { by?: string } {
  return by === undefined ? {} : { by };
}

function isDirectoryAt(path: string): boolean {
  try {
    return statIfPresent(path)?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function existsAt(path: string | Buffer): boolean {
  try {
    return statIfPresent(path) !== undefined;
  } catch {
    // The file may exist in a directory that can't be entered.
    return true;
  }
}
