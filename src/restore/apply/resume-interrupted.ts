/** Completes restores whose process was killed, so that no work tree stays between two states. */
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { loadConfig } from "../../config/load.ts";
import { startCapture } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { captureOptions } from "../../recording/dispatcher.ts";
import { saveStandaloneStep } from "../../recording/save.ts";
import type { RestoreNote } from "../notes.ts";
import { withTouched } from "../plan/permissions.ts";
import type { FilePlan } from "../types.ts";
import { perform } from "./apply.ts";
import { contentId } from "./content.ts";
import { asideDirectory } from "./discard.ts";
import { holdFiles, recordedFiles } from "./held.ts";
import { isRestoring, type Journal, journals, restoreDirectory, tryLockRestores, writeJournal } from "./journal.ts";
import { safeStat } from "./move.ts";
import { isReachable } from "./move-files.ts";
import { stagedPlace } from "./stage.ts";

/** Returns notes for the user; empty if nothing was interrupted or a restore is still running. */
export async function resumeInterruptedRestores(workspace: Workspace): Promise<RestoreNote[]> {
  if (!isRestoring(workspace)) return [];
  const lock = tryLockRestores(workspace);
  if (!lock) return [];
  try {
    return await resumeUnderLock(workspace);
  } finally {
    lock.release();
  }
}

export async function resumeUnderLock(workspace: Workspace): Promise<RestoreNote[]> {
  const { found, unreadable } = journals(workspace);
  const events: RestoreNote[] = unreadable.map((directory) => ({ kind: "restore-unreadable", directory }));
  for (const journal of found) {
    const restore = journal.record.kind;
    try {
      const waiting = waitingFiles(workspace, journal);
      if (isChanged(workspace, journal, waiting)) events.push(await saveAgain(workspace, journal, waiting));
      const { chat, notes } = await perform(workspace, journal);
      events.push({ kind: "restore-finished", restore }, ...notes);
      if (chat) events.push({ kind: "conversation-continues", command: chat.command });
    } catch (error) {
      logError("finishing a restore", error);
      events.push({ kind: "restore-not-finished", restore, reason: messageOf(error) });
    }
  }
  return events;
}

/** The files not yet deleted or replaced. */
function waitingFiles(workspace: Workspace, journal: Journal): Pick<FilePlan, "write" | "delete"> {
  const { id, files } = journal;
  const directory = restoreDirectory(workspace, id);
  return {
    delete: files.delete.filter((_, slot) => !safeStat(join(asideDirectory(directory), String(slot)))),
    write: files.write.filter((_, n) => safeStat(stagedPlace(directory, journal, n))),
  };
}

function pathsOf(files: Pick<FilePlan, "write" | "delete">): string[] {
  return [...files.delete, ...files.write.map(({ path }) => path)];
}

/** True if any of these files has content that the safety step does not hold. */
function isChanged(workspace: Workspace, { safety }: Journal, waiting: Pick<FilePlan, "write" | "delete">): boolean {
  return pathsOf(waiting).some((path) => {
    if (!isReachable(workspace.root, path)) return false;
    const content = contentId(onDisk(workspace.root, path), workspace.hash);
    return content !== undefined && !safety.some(({ held }) => held?.[path] === content);
  });
}

async function saveAgain(
  workspace: Workspace,
  journal: Journal,
  waiting: Pick<FilePlan, "write" | "delete">,
): Promise<RestoreNote> {
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace)));
  try {
    const snapshot = await capture.finish();
    const recorded = await recordedFiles(capture, snapshot, pathsOf(waiting));
    const { present, held } = await holdFiles(workspace, capture, snapshot, recorded);
    const exact = withTouched(workspace, capture.details, present, journal.files);
    const { step } = await saveStandaloneStep(workspace, capture, exact, { kind: "safety", name: null });
    journal.safety.push({ work: present.work, raw: present.raw, held });
    writeJournal(workspace, journal);
    return { kind: "saved-before-finishing", step: step.id };
  } finally {
    capture.close();
  }
}
