/**
 * Deletes everything that is recorded here. First moves the data aside and records the refs in a journal: if the
 * process is killed, the next command continues, and data recorded in the meantime stays.
 */

import { renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, isAbsence } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { makeDirectory, namesIn, removeFile, writeJson } from "../../base/fs/files.ts";
import { acquire } from "../../base/fs/lock.ts";
import { compareAndSwapRef } from "../../git/refs.ts";
import { git } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { workerLock } from "../../recording/start-worker.ts";
import { removeVault } from "../../transcripts/redact/vault.ts";
import type { MaintenanceEvent } from "../events.ts";
import { MaintenanceError } from "../problems.ts";
import { ASIDE, type Journal, journalFile, readJournal } from "./journal.ts";
import { objectsOf, ownRefs, removeLoose, unneeded } from "./objects.ts";
import { type PurgeOptions, type PurgeRequest, staysIn } from "./plan.ts";

const WORKER_WAIT_MS = 10_000;

/** If `options.disable` is set, the caller has already disabled recording. */
export async function purge(workspace: Workspace, options: PurgeRequest): Promise<void> {
  const lock = await acquire(workerLock(workspace), WORKER_WAIT_MS);
  if (!lock) throw new MaintenanceError("failed", { kind: "worker-running" });
  try {
    removeVault(workspace.storeDir);
    await setAside(workspace, options);
    await finish(workspace);
  } finally {
    lock.release();
  }
  removeEmptyDirectories(workspace, options);
}

/** Continues the purge of a killed process. Returns messages for the user. */
export async function finishPurge(workspace: Workspace): Promise<MaintenanceEvent[]> {
  const journal = readJournal(workspace);
  if (!journal) return [];
  const aside = join(workspace.storeDir, ASIDE);
  if (namesIn(aside).length === 1) {
    rmSync(aside, { recursive: true });
    return [{ kind: "purge-interrupted" }];
  }
  moveAside(workspace, journal.request);
  await finish(workspace);
  return [{ kind: "purge-finished" }];
}

async function setAside(workspace: Workspace, options: PurgeRequest): Promise<void> {
  const checkpoints = options.checkpoints && workspace.kind === "repository";
  const began = Date.now();
  const refs = await ownRefs(workspace, checkpoints);
  const objects = workspace.kind === "private" ? [] : [...(await objectsOf(workspace, refs))];
  const aside = join(workspace.storeDir, ASIDE);
  makeDirectory(aside);
  const journal: Journal = { v: 1, began, request: { ...options, checkpoints }, refs, objects };
  writeJson(journalFile(workspace), journal, { sync: true });
  faultPoint("purge:journal");
  moveAside(workspace, options);
  faultPoint("purge:aside");
}

/** Skips names that have already been moved: an entry that exists again is new. */
function moveAside({ storeDir }: Workspace, request: PurgeRequest): void {
  const stays = staysIn(request);
  const aside = join(storeDir, ASIDE);
  const moved = new Set(namesIn(aside));
  for (const name of namesIn(storeDir)) {
    if (name !== ASIDE && !stays(name) && !moved.has(name)) move(join(storeDir, name), join(aside, name));
  }
}

async function finish(workspace: Workspace): Promise<void> {
  const journal = readJournal(workspace);
  if (!journal) return;
  const { refs, objects, began, request } = journal;
  // A ref that has moved belongs to a session that started in the meantime.
  for (const { name, object } of refs) await compareAndSwapRef(workspace, name, object, null);
  for (const { name } of refs) removeFile(join(workspace.commonDir, "logs", name));
  faultPoint("purge:refs");
  if (workspace.kind === "private") await emptyPrivateRepository(workspace);
  else removeLoose(workspace, await unneeded(workspace, new Set(objects), request.checkpoints), began);
  faultPoint("purge:objects");
  const aside = join(workspace.storeDir, ASIDE);
  // Delete the journal last: it lists the remaining work.
  for (const name of namesIn(aside)) if (name !== "purge.json") rmSync(join(aside, name), { recursive: true });
  rmSync(aside, { recursive: true, force: true });
  for (const { name } of refs) {
    removeEmpty(workspace.commonDir, join("logs", dirname(name)));
    removeEmpty(workspace.commonDir, dirname(name));
  }
}

/** Resets the repository of a folder without git, which belongs entirely to Backtrail. */
async function emptyPrivateRepository({ commonDir, root }: Workspace): Promise<void> {
  for (const name of ["objects", "refs", "logs", "packed-refs", "index", "ORIG_HEAD"])
    rmSync(join(commonDir, name), { recursive: true, force: true });
  await git(["init", "--quiet", "--bare", commonDir], { cwd: root });
}

/** Recreates the state directory for further recording. With `disable`, deletes the store and a private repository. */
function removeEmptyDirectories({ kind, storeDir, stateDir, commonDir }: Workspace, { disable }: PurgeOptions): void {
  if (!disable) {
    makeDirectory(stateDir);
    return;
  }
  rmSync(join(storeDir, "worktrees"), { recursive: true, force: true });
  try {
    rmdirSync(storeDir);
  } catch (error) {
    if (isAbsence(error) || codeOf(error) === "ENOTEMPTY") return;
    throw error;
  }
  if (kind === "private") rmSync(commonDir, { recursive: true });
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // A temporary lock or mark may already be gone.
    if (!isAbsence(error)) throw error;
  }
}

/** Removes empty directories upward, as long as they are below `refs` or `logs/refs`. */
function removeEmpty(commonDir: string, path: string): void {
  for (let each = path; /^(?:logs\/)?refs\/./.test(each); each = dirname(each)) {
    if (each.endsWith("refs/heads")) return;
    try {
      rmdirSync(join(commonDir, each));
    } catch (error) {
      if (isAbsence(error)) continue;
      if (codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST") return;
      throw error;
    }
  }
}
