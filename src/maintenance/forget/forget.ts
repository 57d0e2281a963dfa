/**
 * Forgets conversations: deletes them from steps, state, queue, log, imported sessions, kept files, OpenCode's
 * transcripts and checkpoints, with the secrets that were redacted in them. Writes a journal (`forget.json`) first, so
 * that the next process finishes after a kill; every part is idempotent.
 */

import { rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { readText, removeFile, writeFileAtomic, writeJson } from "../../base/fs/files.ts";
import { isFreeOfLinks } from "../../base/fs/guarded-files.ts";
import { acquire } from "../../base/fs/lock.ts";
import { logFile } from "../../base/log.ts";
import { isInside } from "../../base/paths.ts";
import { whileObjectsStay } from "../../checkpoints/branch/location.ts";
import { forgetInCheckpoints } from "../../checkpoints/forget/forget.ts";
import { rememberForgotten } from "../../checkpoints/forget/tombstones.ts";
import { dropImported } from "../../checkpoints/import/store.ts";
import { dropFromQueue } from "../../checkpoints/write/queue.ts";
import { privateRepository } from "../../git/private/store.ts";
import { prunePrivateObjects } from "../../git/private/upkeep.ts";
import type { Workspace } from "../../git/workspace.ts";
import { forgetSessionFiles } from "../../recording/session/files.ts";
import { removeConversation } from "../../steps/conversation/files.ts";
import { stripSession } from "../../steps/conversation/remove.ts";
import { listForks, writeForkRecord } from "../../steps/forks.ts";
import { rewriteIndex } from "../../steps/index-file.ts";
import { stepsIn } from "../../steps/log.ts";
import { dropFromJournals } from "../../steps/save.ts";
import { sessionLock } from "../../steps/session-tree.ts";
import { migrateSession } from "../../steps/upkeep/migrate.ts";
import { dropSteps, ownerKey } from "../../steps/upkeep/retention.ts";
import { forgetSecrets } from "../../transcripts/redact/vault.ts";
import type { MaintenanceEvent } from "../events.ts";
import { MaintenanceError } from "../problems.ts";
import { type Journal, journalFile, readJournal } from "./journal.ts";
import type { ForgetPlan } from "./plan.ts";

const LOCK_WAIT_MS = 5_000;

export async function forget(workspace: Workspace, plan: ForgetPlan): Promise<void> {
  const journal: Journal = {
    v: 1,
    conversationOnly: plan.conversationOnly,
    sessions: plan.sessions.map(({ key, session }) => ({ key, id: session })),
    steps: plan.steps.map(({ id }) => id),
    files: plan.conversationOnly ? plan.files.transcripts : [...plan.files.transcripts, ...plan.files.kept],
    runs: plan.files.runs,
    words: plan.words,
  };
  writeJson(journalFile(workspace), journal, { sync: true });
  faultPoint("forget:journal");
  await confirmAndApply(workspace, journal);
}

/** Finishes the `forget` of a killed process. Returns messages for the user. */
export async function finishForgetting(workspace: Workspace): Promise<MaintenanceEvent[]> {
  const journal = readJournal(workspace);
  if (!journal) return [];
  await confirmAndApply(workspace, journal);
  return [{ kind: "forget-finished", conversations: journal.sessions.length + journal.steps.length }];
}

async function confirmAndApply(workspace: Workspace, journal: Journal): Promise<void> {
  const keys = new Set(journal.sessions.map(({ key }) => key));
  // First remove what would write the conversation again.
  dropFromQueue(workspace, keys);
  forgetPrompts(workspace, keys);
  await forgetSteps(workspace, journal, keys);
  faultPoint("forget:steps");
  const ids = new Set(journal.sessions.map(({ id }) => id));
  rememberForgotten(workspace, ids);
  const orphans = ids.size > 0 ? await forgetInCheckpoints(workspace, ids) : [];
  await pruneAtOnce(workspace);
  faultPoint("forget:checkpoints");
  forgetSecrets(workspace.storeDir, orphans);
  for (const key of keys) {
    await dropImported(workspace, key);
    forgetSessionFiles(workspace, key);
  }
  // Delete only files inside the store, whatever the journal says.
  for (const file of journal.files)
    if (isInside(workspace.storeDir, file)) rmSync(file, { recursive: true, force: true });
  for (const file of journal.runs)
    if (ids.has(basename(file, ".jsonl")) && mayRemove(workspace.root, file)) rmSync(file, { force: true });
  faultPoint("forget:files");
  forgetLines(workspace, journal.words);
  removeFile(journalFile(workspace));
}

/** False if the log directory is a link in the repository: its target is not ours. */
function mayRemove(root: string, file: string): boolean {
  return !isInside(root, file) || isFreeOfLinks(root, dirname(file));
}

/** Removes prompts from fork records. Must run before the steps that identify the forks' sessions are deleted. */
function forgetPrompts(workspace: Workspace, keys: ReadonlySet<string>): void {
  const forks = listForks(workspace).filter(({ from }) => from.prompt !== null);
  if (forks.length === 0) return;
  const own = stepsIn(workspace)
    .list()
    .filter((step) => keys.has(ownerKey(step)));
  const ids = new Set<string | null>(own.map(({ id }) => id));
  for (const fork of forks) {
    if (ids.has(fork.from.step)) writeForkRecord(workspace, { ...fork, from: { ...fork.from, prompt: null } });
  }
}

async function forgetSteps(workspace: Workspace, journal: Journal, keys: ReadonlySet<string>): Promise<void> {
  dropFromJournals(workspace, keys);
  for (const key of keys) await migrate(workspace, key);
  if (journal.conversationOnly) {
    for (const key of keys) await stripSession(workspace, key);
    return;
  }
  const wanted = () =>
    stepsIn(workspace)
      .list()
      .filter((step) => keys.has(ownerKey(step)) || journal.steps.includes(step.id));
  await dropSteps(workspace, wanted());
  // A killed process may have marked the steps as deleted without rewriting the list.
  rewriteIndex(workspace, (listed) => listed);
  const left = wanted().length;
  if (left > 0) throw new MaintenanceError("failed", { kind: "steps-not-forgotten", steps: left });
  for (const key of keys) removeConversation(workspace, key);
}

/** Prunes forgotten steps and checkpoints from the private repository at once. */
async function pruneAtOnce(workspace: Workspace): Promise<void> {
  if (workspace.kind === "private") return;
  await whileObjectsStay(privateRepository(workspace), () => prunePrivateObjects(workspace));
}

/** Migrating also lists the objects of earlier versions, so that `forget` can report how to delete them. */
async function migrate(workspace: Workspace, key: string): Promise<void> {
  const lock = await acquire(sessionLock(workspace, key), LOCK_WAIT_MS);
  try {
    if (lock && (await migrateSession(workspace, key))) return;
  } finally {
    lock?.release();
  }
  throw new MaintenanceError("failed", { kind: "session-not-forgotten" });
}

/** Log messages contain at most session ids, but forgetting should leave no trace. */
function forgetLines(workspace: Workspace, words: readonly string[]): void {
  for (const file of [logFile(workspace.storeDir), `${logFile(workspace.storeDir)}.1`]) {
    const text = readText(file);
    if (text === undefined || !words.some((word) => text.includes(word))) continue;
    const left = text.split("\n").filter((line) => !words.some((word) => line.includes(word)));
    writeFileAtomic(file, left.join("\n"));
  }
}
