/** Checks for unfinished work: saves, locks, turns, queued checkpoints. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isHeld } from "../../../base/fs/lock.ts";
import { plural, shorten } from "../../../base/text.ts";
import { waitingSince } from "../../../checkpoints/write/queue.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { isAlive, orphanedTurns } from "../../../recording/orphaned-turns.ts";
import { listSessions } from "../../../recording/session/store.ts";
import { workerLock } from "../../../recording/start-worker.ts";
import { abandonedEntries } from "../../../steps/save.ts";
import { isForgetting } from "../../forget/forget.ts";
import { leftoversIn } from "../../leftovers.ts";
import { FIX, type Finding, ok, problem, some, warning, within } from "../finding.ts";
import { lostCheckpoints } from "./lost-checkpoints.ts";

/** The worker writes a checkpoint in seconds. */
const MOVES_WITHIN_MS = 10 * 60 * 1000;
/** git usually holds its locks for milliseconds, and at most while an editor is open. */
const LOCKED_BY_GIT_MS = 10 * 60 * 1000;
const LONG_TURN_MS = 24 * 60 * 60 * 1000;

export function checkSaves(workspace: Workspace): Finding[] {
  if (isForgetting(workspace)) {
    const message = "Forgetting a conversation was cut off, or is under way.";
    return [problem("saves", message, "The next command finishes it, or `backtrail doctor --fix`.", true)];
  }
  const left = abandonedEntries(workspace).length;
  if (left === 0) return [ok("saves", "none is unfinished")];
  const message = `${plural(left, "save")} of a killed process ${left === 1 ? "is" : "are"} unfinished.`;
  return [problem("saves", message, "The next command finishes it, or `backtrail doctor --fix`.", true)];
}

export function checkLocks(workspace: Workspace): Finding[] {
  const { locks, files } = leftoversIn(workspace);
  const left = [...locks, ...files];
  const gits = locksOfGit(workspace);
  if (left.length === 0 && gits.length > 0) {
    const message = `git's own ${some(gits.map((path) => within(workspace, path)))} has been there for a while.`;
    return [warning("locks", message, "If no git is running here, a killed one left it: remove the file.")];
  }
  if (left.length === 0) return [ok("locks", "none was left behind")];
  const names = some(left.map((path) => within(workspace, path)));
  return [
    problem(
      "locks",
      `A killed process left ${names}.`,
      "The next command removes it, or `backtrail doctor --fix`.",
      true,
    ),
  ];
}

function locksOfGit({ gitDir, commonDir }: Workspace): string[] {
  const paths = [join(gitDir, "index.lock"), join(gitDir, "HEAD.lock"), join(commonDir, "packed-refs.lock")];
  return paths.filter((path) => {
    const time = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return time !== undefined && Date.now() - time > LOCKED_BY_GIT_MS;
  });
}

export function checkTurns(workspace: Workspace): Finding[] {
  const dead = orphanedTurns(workspace, null).length;
  const findings: Finding[] = [];
  if (dead > 0) {
    const message = `${plural(dead, "turn")} never ended: the agent is gone.`;
    findings.push(warning("turns", message, "The next command closes it, or `backtrail doctor --fix`.", true));
  }
  for (const session of listSessions(workspace)) {
    const since = session.openTurn?.startedAt;
    if (!since || !isAlive(session) || now().getTime() - Date.parse(since) < LONG_TURN_MS) continue;
    const message = `Session ${shorten(session.id, 12)} of ${session.agent} has been in one turn since ${since}, and its agent still runs.`;
    findings.push(warning("turns", message, "If it hangs, end the agent: what it did so far is saved then."));
  }
  return findings.length > 0 ? findings : [ok("turns", "none was left open")];
}

export async function checkQueue(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { checkpoints, since, unreadable } = waitingSince(workspace);
  const waiting = checkpoints.length;
  const isStuck = since !== null && now().getTime() - since > MOVES_WITHIN_MS && !isHeld(workerLock(workspace));
  if (isStuck) {
    const message = `${plural(waiting, "checkpoint")} ${waiting === 1 ? "waits" : "wait"} since ${new Date(since).toISOString()}, and nobody writes ${waiting === 1 ? "it" : "them"}.`;
    findings.push(warning("queue", message, FIX, true));
  }
  if (unreadable.length > 0) {
    const message = `A checkpoint that waits can't be read: ${some(unreadable)}.`;
    findings.push(warning("queue", message, "It was set aside; its commit has no conversation."));
  }
  const lost = await lostCheckpoints(workspace);
  if (lost.length > 0) {
    const ids = some(lost.map(({ checkpoint }) => checkpoint));
    findings.push(problem("queue", `A commit names a checkpoint that was never written: ${ids}.`, FIX, true));
  }
  if (findings.length > 0) return findings;
  return [ok("queue", waiting === 0 ? "no checkpoint waits" : `${plural(waiting, "checkpoint")} about to be written`)];
}
