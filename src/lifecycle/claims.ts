/**
 * Whose change is it? With one agent in a work tree everything that changed during a turn is that turn's. With
 * several, a file that another one's own tools wrote, and ours did not, is the other one's.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { getAgent } from "../agents/registry.ts";
import { logError } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { FileChanges } from "../transcripts/model.ts";
import { keyOf, loadSession, marked, type SessionState } from "./session-state.ts";
import { readTail } from "./transcript-tail.ts";

/** Agents write their transcripts some 100 ms behind what they do. */
const LATE_MS = 300;
const POLL_MS = 20;

/** Of all that changed since `since` (an ISO time), what belongs to the session `own`, whose tools wrote `written`. */
export async function ownChanges(
  workspace: Workspace,
  own: SessionState,
  since: string,
  changes: FileChanges,
  written: ReadonlySet<string>,
): Promise<FileChanges> {
  const doubtful = [...changes.added, ...changes.modified, ...changes.deleted].filter((path) => !written.has(path));
  if (doubtful.length === 0) return changes;
  const claims = finishedTurnsFiles(workspace, own, since);
  const running = marked(workspace, "active").filter((key) => key !== keyOf(own));
  const deadline = performance.now() + LATE_MS;
  while (running.length > 0) {
    for (const key of running) for (const path of await runningTurnFiles(workspace, key)) claims.add(path);
    // What nobody claims may have been written by the other one a moment ago.
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
    for (const path of [...step.files.added, ...step.files.modified, ...step.files.deleted]) claims.add(path);
  }
  return claims;
}

/** Files that the tools of a session's open turn have written so far, as its transcript tells. */
export async function runningTurnFiles(workspace: Workspace, key: string): Promise<string[]> {
  const other = loadSession(workspace, key);
  if (!other?.transcript || !other.openTurn) return [];
  try {
    const agent = await getAgent(other.agent);
    const tail = readTail(other.transcript.path, other.transcript, other.openTurn.offset, agent?.analyser);
    return relativePaths(workspace.root, other.cwd, tail?.stretch?.files ?? []);
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

/** Paths as an agent gives them, as paths from the work tree's root; those outside it are left out. */
export function relativePaths(root: string, cwd: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const absolute = resolve(cwd, path);
    return wayBelow(root, absolute) ?? wayBelow(root, withoutLinks(absolute)) ?? [];
  });
}

function wayBelow(root: string, path: string): string | undefined {
  return path !== root && isInside(root, path) ? relative(root, path) : undefined;
}

/** The agent may know its directory by another name than git does. */
function withoutLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
