/**
 * Attributes changes to sessions. With one agent in a work tree, a turn owns everything that changed during it. With
 * several, a file that another session's tools wrote, and this session's tools did not, belongs to the other session.
 */

import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { getAgent } from "../agents/registry/registry.ts";
import { logError } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import type { Workspace } from "../git/workspace.ts";
import type { FileChanges } from "../model/changes.ts";
import { changedPaths } from "../model/changes.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { keyOf, loadSession, marked, type SessionState } from "./session/store.ts";
import { readTail } from "./transcript-tail.ts";

/** Agents write their transcripts some 100 ms after they act. */
const LATE_MS = 300;
const POLL_MS = 20;

/** The subset of the changes since `since` (an ISO time) that belongs to `own`, whose tools wrote `written`. */
export async function ownChanges(
  workspace: Workspace,
  own: SessionState,
  since: string,
  changes: FileChanges,
  written: ReadonlySet<string>,
): Promise<FileChanges> {
  const doubtful = changedPaths(changes).filter((path) => !written.has(path));
  if (doubtful.length === 0) return changes;
  const claims = finishedTurnsFiles(workspace, own, since);
  const running = marked(workspace, "active").filter((key) => key !== keyOf(own));
  const deadline = performance.now() + LATE_MS;
  while (running.length > 0) {
    for (const key of running) for (const path of await runningTurnFiles(workspace, key)) claims.add(path);
    // Another session may have just written an unclaimed file, without having it in its transcript yet.
    if (doubtful.every((path) => claims.has(path)) || performance.now() >= deadline) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return withoutClaims(changes, claims, written);
}

function finishedTurnsFiles(workspace: Workspace, own: SessionState, since: string): Set<string> {
  const claims = new Set<string>();
  for (const step of stepsNewestFirst(workspace)) {
    if (step.time < since) break;
    if (step.worktree !== workspace.worktree || step.session === own.id) continue;
    if (step.kind !== "turn-end" && step.kind !== "task") continue;
    for (const path of changedPaths(step.files)) claims.add(path);
  }
  return claims;
}

/** Files that the tools of a session's open turn have written so far, according to its transcript. */
export async function runningTurnFiles(workspace: Workspace, key: string): Promise<string[]> {
  const other = loadSession(workspace, key);
  if (!other?.transcript || !other.openTurn) return [];
  try {
    const agent = await getAgent(other.agent);
    const tail = readTail(other.transcript.path, other.transcript, other.openTurn.offset, agent?.analyzer);
    return relativePaths(workspace.root, other.cwd, tail?.slice?.files ?? []);
  } catch (error) {
    logError("reading another session", error);
    return [];
  }
}

function withoutClaims(changes: FileChanges, others: ReadonlySet<string>, own: ReadonlySet<string>): FileChanges {
  const keep = (path: string) => own.has(path) || !others.has(path);
  return {
    added: changes.added.filter(keep),
    modified: changes.modified.filter(keep),
    deleted: changes.deleted.filter(keep),
  };
}

/** Converts an agent's paths to paths relative to the work tree's root, and drops those outside it. */
export function relativePaths(root: string, cwd: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const absolute = resolve(cwd, path);
    return wayBelow(root, absolute) ?? wayBelow(root, withoutLinks(absolute)) ?? [];
  });
}

function wayBelow(root: string, path: string): string | undefined {
  return path !== root && isInside(root, path) ? relative(root, path) : undefined;
}

/** Resolves symbolic links: the agent may use a different path to its directory than git does. */
function withoutLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
