/** Checks for unfinished work: saves, locks, turns, queued checkpoints. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isHeld } from "../../../base/fs/lock.ts";
import { waitingSince } from "../../../checkpoints/write/queue.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { isAlive, orphanedTurns } from "../../../recording/orphaned-turns.ts";
import { listSessions } from "../../../recording/session/store.ts";
import { workerLock } from "../../../recording/start-worker.ts";
import { abandonedEntries } from "../../../steps/save.ts";
import { isForgetting } from "../../forget/journal.ts";
import { leftoversIn } from "../../leftovers.ts";
import { type Finding, ok, problem, warning, within } from "../finding.ts";
import { lostCheckpoints } from "./lost-checkpoints.ts";

/** The worker writes a checkpoint in seconds. */
const MOVES_WITHIN_MS = 10 * 60 * 1000;
/** git usually holds its locks for milliseconds, and at most while an editor is open. */
const LOCKED_BY_GIT_MS = 10 * 60 * 1000;
const LONG_TURN_MS = 24 * 60 * 60 * 1000;

export function checkSaves(workspace: Workspace): Finding[] {
  if (isForgetting(workspace)) return [problem("saves", { kind: "forget-unfinished" }, true)];
  const saves = abandonedEntries(workspace).length;
  if (saves === 0) return [ok("saves", { kind: "saves-done" })];
  return [problem("saves", { kind: "saves-unfinished", saves }, true)];
}

export function checkLocks(workspace: Workspace): Finding[] {
  const { locks, files } = leftoversIn(workspace);
  const left = [...locks, ...files];
  const shown = (paths: readonly string[]) => paths.map((path) => within(workspace, path));
  if (left.length > 0) return [problem("locks", { kind: "locks-abandoned", paths: shown(left) }, true)];
  const ofGit = locksOfGit(workspace);
  if (ofGit.length > 0) return [warning("locks", { kind: "git-locks", paths: shown(ofGit) })];
  return [ok("locks", { kind: "no-locks" })];
}

function locksOfGit({ gitDir, commonDir }: Workspace): string[] {
  const paths = [join(gitDir, "index.lock"), join(gitDir, "HEAD.lock"), join(commonDir, "packed-refs.lock")];
  return paths.filter((path) => {
    const time = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return time !== undefined && Date.now() - time > LOCKED_BY_GIT_MS;
  });
}

export function checkTurns(workspace: Workspace): Finding[] {
  const turns = orphanedTurns(workspace, null).length;
  const findings: Finding[] = [];
  if (turns > 0) findings.push(warning("turns", { kind: "turns-orphaned", turns }, true));
  for (const session of listSessions(workspace)) {
    const since = session.openTurn?.startedAt;
    if (!since || !isAlive(session) || now().getTime() - Date.parse(since) < LONG_TURN_MS) continue;
    findings.push(warning("turns", { kind: "turn-very-long", session: session.id, agent: session.agent, since }));
  }
  return findings.length > 0 ? findings : [ok("turns", { kind: "turns-ended" })];
}

export async function checkQueue(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { checkpoints: waiting, since, unreadable } = waitingSince(workspace);
  const checkpoints = waiting.length;
  const isStuck = since !== null && now().getTime() - since > MOVES_WITHIN_MS && !isHeld(workerLock(workspace));
  if (isStuck) {
    const time = new Date(since).toISOString();
    findings.push(warning("queue", { kind: "queue-stuck", checkpoints, since: time }, true));
  }
  if (unreadable.length > 0) findings.push(warning("queue", { kind: "queue-unreadable", files: unreadable }));
  const lost = (await lostCheckpoints(workspace)).map(({ checkpoint }) => checkpoint);
  if (lost.length > 0) findings.push(problem("queue", { kind: "checkpoints-lost", checkpoints: lost }, true));
  return findings.length > 0 ? findings : [ok("queue", { kind: "queue", checkpoints })];
}
