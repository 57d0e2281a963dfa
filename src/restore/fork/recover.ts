/** Forks whose process was killed: one that was being made is finished, one that was being dropped goes. */
import { existsSync, realpathSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { logError } from "../../base/log.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ForkRecord, listForks } from "../../steps/forks.ts";
import { dropAgain } from "./drop.ts";
import { workspaceOf } from "./find.ts";
import { tryLockForks } from "./lock.ts";
import { bringAbout } from "./make.ts";
import { removeFork } from "./removal.ts";
import { untilMade } from "./worktree.ts";

/** Sentences for the user; none where somebody is still at it. */
export async function finishForks(workspace: Workspace): Promise<string[]> {
  const lock = tryLockForks(workspace);
  if (!lock) return [];
  const said: string[] = [];
  try {
    for (const record of listForks(workspace)) {
      if (record.state !== "ready" && !isUnderUs(workspace, record)) said.push(...(await finishOne(workspace, record)));
    }
  } finally {
    lock.release();
  }
  return said;
}

/** The directory that we stand in can't be taken away: a command from elsewhere does that. */
function isUnderUs(workspace: Workspace, record: ForkRecord): boolean {
  if (record.directory === null || !existsSync(record.directory)) return false;
  const mayGo = record.state === "dropping" || !workspaceOf(workspace, record);
  return mayGo && realpathSync(record.directory) === workspace.root;
}

async function finishOne(workspace: Workspace, record: ForkRecord): Promise<string[]> {
  const what = record.state === "dropping" ? "dropped" : "made";
  try {
    return record.state === "dropping" ? await dropAgain(workspace, record) : await makeAgain(workspace, record);
  } catch (error) {
    logError("finishing a fork", error);
    return [`The fork ${record.name}, which was being ${what}, could not be finished: ${messageOf(error)}`];
  }
}

async function makeAgain(workspace: Workspace, record: ForkRecord): Promise<string[]> {
  if (record.kind === "worktree") await untilMade(workspace, record);
  // Without a whole work tree nobody can have worked in it.
  if (record.kind !== "branch" && !workspaceOf(workspace, record)) {
    await removeFork(workspace, record, record.commit);
    return [`Cleared away the fork ${record.name}, which had been interrupted before it had files.`];
  }
  const { record: done, notes } = await bringAbout(workspace, record);
  const command = done.chat ? ` It goes on with: ${done.chat.command}` : "";
  return [`Finished the fork ${record.name}, which had been interrupted.${command}`, ...notes];
}
