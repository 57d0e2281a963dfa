/** Carries out a journal, from wherever it was left, and takes it back if it can't be finished. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { writeFork } from "./chat.ts";
import { FileMoves } from "./files.ts";
import { releaseLock } from "./git-locks.ts";
import { type Journal, removeRestore, restoreDirectory } from "./journal.ts";
import type { ChatReceipt } from "./model.ts";
import { appendRestore } from "./records.ts";
import { settle } from "./settle.ts";
import { refreshIndex, restoreIndex } from "./staged-state.ts";

export interface Performed {
  chat: ChatReceipt | null;
  notes: string[];
}

/** `fresh`: the journal was written just now, and nothing of it has been done. */
export async function perform(workspace: Workspace, journal: Journal, fresh = false): Promise<Performed> {
  const directory = restoreDirectory(workspace, journal.id);
  const moves = new FileMoves(workspace.root, directory, journal);
  try {
    moves.forward(fresh);
  } catch (error) {
    await takeBack(workspace, journal, moves, error);
  }
  faultPoint("restore:files");
  const touched = journal.files.write.length + journal.files.delete.length > 0;
  // Beside the rest, unless the rest changes the index too.
  let refreshing = touched && journal.index === null ? refreshIndex(workspace) : undefined;
  try {
    return await finish(workspace, journal, directory, fresh);
  } finally {
    if (journal.index !== null) refreshing = refreshIndex(workspace);
    await refreshing;
  }
}

async function finish(workspace: Workspace, journal: Journal, directory: string, fresh: boolean): Promise<Performed> {
  const notes = await settle(workspace, journal);
  faultPoint("restore:settled");
  notes.push(...(await moveHead(workspace, journal, fresh)));
  faultPoint("restore:head");
  const unstaged = journal.index && (await restoreIndex(workspace, journal.index));
  if (unstaged) notes.push(unstaged);
  faultPoint("restore:index");
  const chat = putChat(directory, journal, notes);
  faultPoint("restore:chat");
  appendRestore(workspace, chat ? journal.record : { ...journal.record, fork: null });
  faultPoint("restore:recorded");
  removeRestore(workspace, journal.id);
  return { chat, notes };
}

/** Where the fork's content waits. */
export function stagedFork(directory: string): string {
  return join(directory, "fork");
}

async function takeBack(workspace: Workspace, journal: Journal, moves: FileMoves, cause: unknown): Promise<never> {
  const hint = cause instanceof UserError ? cause.hint : undefined;
  try {
    moves.backward();
    const notes = await settle(workspace, journal);
    removeRestore(workspace, journal.id);
    throw new UserError("failed", [messageOf(cause), "All files are as they were before.", ...notes].join(" "), hint);
  } catch (error) {
    if (error instanceof UserError && error.message.startsWith(messageOf(cause))) throw error;
    throw new UserError(
      "failed",
      `${messageOf(cause)} The files are only partly restored (${messageOf(error)}).`,
      `The next backtrail command tries again. Everything as it was before is in step ${journal.record.safetyStep}.`,
    );
  }
}

async function moveHead(workspace: Workspace, journal: Journal, fresh: boolean): Promise<string[]> {
  const { head } = journal;
  if (!head) return [];
  const { args, cwd } = gitLocation(workspace);
  const read = await tryGit([...args, "rev-parse", "--verify", "--quiet", "HEAD"], { cwd });
  const now = read.stdout.toString("latin1").trim();
  if (now === head.to) return [];
  // The git that was moving it may have been killed with us.
  if (!fresh && now === head.from) await releaseHead(workspace);
  const moved = await tryGit([...args, "update-ref", "-m", head.message, "HEAD", head.to, head.from], { cwd });
  return moved.code === 0 ? [] : ["The branch was not moved: it changed in the meantime."];
}

async function releaseHead(workspace: Workspace): Promise<void> {
  const { args, cwd } = gitLocation(workspace);
  const branch = (await tryGit([...args, "symbolic-ref", "--quiet", "HEAD"], { cwd })).stdout.toString("utf8").trim();
  await releaseLock(join(workspace.gitDir, "HEAD.lock"));
  if (branch !== "") await releaseLock(join(workspace.commonDir, `${branch}.lock`));
}

/** Files come first: a conversation that can't be written does not hold them up. */
function putChat(directory: string, journal: Journal, notes: string[]): ChatReceipt | null {
  if (!journal.chat) return null;
  const { agent, session, transcript, command, root, written } = journal.chat;
  try {
    if (written) writeFork(stagedFork(directory), root, transcript);
    if (!written || existsSync(transcript)) return { agent, session, transcript, command };
    notes.push("The conversation's copy is gone again.");
  } catch (error) {
    notes.push(`The conversation could not be copied: ${messageOf(error)}`);
  }
  return null;
}
