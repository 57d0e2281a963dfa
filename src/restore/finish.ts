/** Finishes restores whose process was killed, so that a work tree is never left between two states. */
import { messageOf } from "../base/errors.ts";
import { logError } from "../base/log.ts";
import { onDisk } from "../base/path-bytes.ts";
import { loadConfig } from "../config/load.ts";
import { startCapture } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { captureOptions } from "../lifecycle/dispatcher.ts";
import { saveOutsideTurns } from "../lifecycle/save.ts";
import {
  isLocked,
  type Journal,
  journals,
  restoreDirectory,
  startedRestores,
  tryLockRestores,
  writeJournal,
} from "./journal.ts";
import { markAt, safeStat } from "./move.ts";
import { perform } from "./perform.ts";
import { stagingDirectory } from "./stage.ts";

/** Sentences for the user; none where there was nothing to finish, or somebody is still at it. */
export async function finishRestores(workspace: Workspace): Promise<string[]> {
  if (startedRestores(workspace).length === 0 && !isLocked(workspace)) return [];
  const lock = tryLockRestores(workspace);
  if (!lock) return [];
  try {
    return await finishUnderLock(workspace);
  } finally {
    lock.release();
  }
}

export async function finishUnderLock(workspace: Workspace): Promise<string[]> {
  const { found, unreadable } = journals(workspace);
  const said = unreadable.map(
    (directory) => `What an interrupted restore left in ${directory} can't be read, so it is left there.`,
  );
  for (const journal of found) {
    const what = journal.record.kind === "undo" ? "an undo" : `a ${journal.record.kind}`;
    try {
      if (changedSince(workspace, journal)) said.push(await saveAgain(workspace, journal));
      const { chat, notes } = await perform(workspace, journal);
      said.push(`Finished ${what} that had been interrupted; \`backtrail redo\` takes it back.`, ...notes);
      if (chat) said.push(`The conversation goes on with: ${chat.command}`);
    } catch (error) {
      logError("finishing a restore", error);
      said.push(`${what.replace("a", "A")} that had been interrupted could not be finished: ${messageOf(error)}`);
    }
  }
  return said;
}

/** Whether somebody has worked on files that are still to be replaced. */
function changedSince(workspace: Workspace, { id, files, marks }: Journal): boolean {
  const staged = stagingDirectory(restoreDirectory(workspace, id));
  const waiting = files.write.filter(({ path }) => safeStat(onDisk(staged, path))).map(({ path }) => path);
  return [...files.delete, ...waiting].some((path) => {
    const mark = markAt(onDisk(workspace.root, path));
    return mark !== undefined && mark !== marks[path];
  });
}

async function saveAgain(workspace: Workspace, journal: Journal): Promise<string> {
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace.root)));
  try {
    const present = await capture.finish();
    const { step } = await saveOutsideTurns(workspace, capture, present, { kind: "safety", name: null });
    journal.safety.push({ work: present.work, raw: present.raw });
    writeJournal(workspace, journal);
    return `The files as they were before finishing are in step ${step.id}.`;
  } finally {
    capture.close();
  }
}
