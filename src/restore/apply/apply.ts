/** Applies a journal from wherever it stopped, and rolls back if it can't be completed. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { logError } from "../../base/log.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { holdLeftCommit } from "../../steps/left-commits.ts";
import { writeFork } from "../conversation/fork.ts";
import { notifyOpenSessions } from "../conversation/open-sessions.ts";
import type { RestoreNote } from "../notes.ts";
import { refreshIndex, restoreIndex } from "../plan/index-state.ts";
import { RestoreError } from "../problems.ts";
import type { ChatReceipt, KeptFile, OpenSession } from "../types.ts";
import { discardReplaced, keptNotes } from "./discard.ts";
import { releaseLock } from "./git-locks.ts";
import { type Journal, removeRestore, restoreDirectory, writeJournal } from "./journal.ts";
import { FileMoves } from "./move-files.ts";
import { appendRestore } from "./restore-log.ts";

export interface Applied {
  chat: ChatReceipt | null;
  kept: KeptFile[];
  openSessions: OpenSession[];
  notes: RestoreNote[];
}

/**
 * `fresh`: the journal is new and no part of it has been applied. `mayMatchIndex`: a written file may have the content
 * that is staged.
 */
export async function perform(
  workspace: Workspace,
  journal: Journal,
  fresh = false,
  mayMatchIndex = true,
): Promise<Applied> {
  const moves = new FileMoves(workspace, journal);
  try {
    if (journal.rolledBack !== undefined)
      throw new RestoreError("failed", { kind: "failed-before", reason: journal.rolledBack });
    if (!fresh && moves.isRollingBack) throw new RestoreError("failed", { kind: "failed-before", reason: null });
    moves.forward(fresh);
  } catch (error) {
    await rollBack(workspace, journal, moves, error);
  }
  faultPoint("restore:files");
  const touched = journal.files.write.length + journal.files.delete.length > 0;
  // Runs in parallel with the rest, unless the rest changes the index too. Files that differ from it stay as they are.
  let refreshing = touched && mayMatchIndex && journal.index === null ? refreshIndex(workspace) : undefined;
  try {
    return await finish(workspace, journal, fresh);
  } finally {
    if (journal.index !== null) refreshing = refreshIndex(workspace);
    await refreshing;
  }
}

async function finish(workspace: Workspace, journal: Journal, fresh: boolean): Promise<Applied> {
  const notes = await moveHead(workspace, journal, fresh);
  faultPoint("restore:head");
  if (journal.index) notes.push(...(await restoreIndex(workspace, journal.index)));
  faultPoint("restore:index");
  const chat = putChat(restoreDirectory(workspace, journal.id), journal, notes);
  faultPoint("restore:chat");
  appendRestore(workspace, chat ? journal.record : { ...journal.record, fork: null });
  faultPoint("restore:recorded");
  const openSessions = await notifyOpenSessions(workspace, journal);
  faultPoint("restore:notified");
  // Last, because a program with a replaced file open can write to it until the file is deleted.
  const kept = await discardReplaced(workspace, journal);
  notes.unshift(...keptNotes(workspace, journal.id, kept));
  faultPoint("restore:settled");
  removeRestore(workspace, journal.id);
  return { chat, kept, openSessions, notes };
}

/** The staged content of the conversation fork. */
export function stagedFork(directory: string): string {
  return join(directory, "fork");
}

async function rollBack(workspace: Workspace, journal: Journal, moves: FileMoves, cause: unknown): Promise<never> {
  const hint = cause instanceof UserError ? cause.hint : undefined;
  let outcome: RestoreNote[];
  try {
    const left = journal.rolledBack === undefined ? moves.backward() : [];
    faultPoint("rollback:files");
    noteRollback(workspace, journal, messageOf(cause));
    const kept = await discardReplaced(workspace, journal);
    faultPoint("rollback:settled");
    removeRestore(workspace, journal.id);
    outcome = [rolledBack(left, journal.record.safetyStep), ...keptNotes(workspace, journal.id, kept)];
  } catch (error) {
    throw new RestoreError("failed", {
      kind: "partly-restored",
      reason: messageOf(cause),
      rollback: messageOf(error),
      safetyStep: journal.record.safetyStep,
    });
  }
  throw new RestoreError("failed", { kind: "rolled-back", reason: messageOf(cause), hint, notes: outcome });
}

/**
 * Records the rollback so that no later process applies the journal again. If the write fails, only a kill right after
 * this point would go unnoticed.
 */
function noteRollback(workspace: Workspace, journal: Journal, cause: string): void {
  try {
    journal.rolledBack = cause;
    writeJournal(workspace, journal);
  } catch (error) {
    logError("noting a rollback", error);
  }
}

function rolledBack(paths: string[], safetyStep: string): RestoreNote {
  return paths.length === 0 ? { kind: "all-as-before" } : { kind: "changed-meanwhile", paths, safetyStep };
}

async function moveHead(workspace: Workspace, journal: Journal, fresh: boolean): Promise<RestoreNote[]> {
  const { head } = journal;
  if (!head) return [];
  const git = gitIn(workspace);
  const now = await git.resolve("HEAD");
  if (now === head.to) return [];
  // The git process that was moving HEAD may have been killed with us and left its lock.
  if (!fresh && now === head.from) await releaseHead(workspace);
  if (!(await holdLeftCommit(workspace, journal.record.safetyStep, head.from)))
    return [{ kind: "branch-not-moved", why: "commit-not-kept" }];
  faultPoint("restore:held");
  const moved = await git.try(["update-ref", "-m", head.message, "HEAD", head.to, head.from]);
  return moved.code === 0 ? [] : [{ kind: "branch-not-moved", why: "changed" }];
}

async function releaseHead(workspace: Workspace): Promise<void> {
  const branch = (await gitIn(workspace).try(["symbolic-ref", "--quiet", "HEAD"])).stdout.toString("utf8").trim();
  await releaseLock(join(workspace.gitDir, "HEAD.lock"));
  if (branch !== "") await releaseLock(join(workspace.commonDir, `${branch}.lock`));
}

/** A conversation that can't be written does not fail the restore of the files. */
function putChat(directory: string, journal: Journal, notes: RestoreNote[]): ChatReceipt | null {
  if (!journal.chat) return null;
  const { root, written, ...chat } = journal.chat;
  const { transcript } = chat;
  try {
    if (written) writeFork(stagedFork(directory), root, transcript);
    if (!written || existsSync(transcript)) return chat;
    notes.push({ kind: "copy-gone" });
  } catch (error) {
    notes.push({ kind: "copy-failed", reason: messageOf(error) });
  }
  return null;
}
