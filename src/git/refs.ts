/**
 * Compares and swaps Backtrail's refs. For git's files format this follows git's lock protocol without starting git;
 * other formats use `git update-ref`.
 */

import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, ProblemError } from "../base/errors.ts";
import { removeFile, writeAll } from "../base/fs/files.ts";
import { gitIn } from "./git.ts";
import type { GitProblem } from "./problems.ts";
import { gitExitCode } from "./run.ts";
import type { Workspace } from "./workspace.ts";

/** git holds a ref's lock for milliseconds; an older lock was left by a killed process. */
const LOCK_ABANDONED_MS = 10_000;
/** Hooks update session refs and cannot wait for an abandoned lock to age. */
const LOCK_WAIT_MS = 2_000;
const MOVED_BY_HOOKS = "refs/backtrail/sessions/";

export async function readRef(workspace: Workspace, ref: string): Promise<string | null> {
  if (workspace.refStorage === "files") return readRefFile(workspace, ref);
  return gitIn(workspace).resolve(ref);
}

/** Synchronous, for decisions that must precede everything else. */
export function hasRef(workspace: Workspace, ref: string): boolean {
  if (workspace.refStorage === "files") return readRefFile(workspace, ref) !== null;
  const { args, cwd } = gitIn(workspace);
  return gitExitCode([...args, "show-ref", "--verify", "--quiet", ref], cwd) === 0;
}

/** Returns true if the ref held `expected` (null: did not exist) and now holds `next` (null: deleted). */
export async function compareAndSwapRef(
  workspace: Workspace,
  ref: string,
  expected: string | null,
  next: string | null,
): Promise<boolean> {
  if (workspace.refStorage !== "files") return swapByGit(workspace, ref, expected, next);
  if (next === null) return deleteRef(workspace, ref, expected);
  const path = join(workspace.commonDir, ref);
  const lock = `${path}.lock`;
  const fd = await openLock(workspace, lock, path, patienceFor(ref));
  let [open, ours] = [true, true];
  try {
    if (readRefFile(workspace, ref) !== expected) return false;
    writeAll(fd, Buffer.from(`${next}\n`));
    closeSync(fd);
    open = false;
    renameSync(lock, path);
    // From here on, a lock of that name belongs to another process.
    ours = false;
    return true;
  } finally {
    if (open) closeSync(fd);
    if (ours) removeFile(lock);
  }
}

/** Deletes a loose ref without git: a killed git would leave a lock that also blocks the user's git. */
async function deleteRef(workspace: Workspace, ref: string, expected: string | null): Promise<boolean> {
  if (readPackedRef(workspace, ref) !== null) return swapByGit(workspace, ref, expected, null);
  const path = join(workspace.commonDir, ref);
  const lock = `${path}.lock`;
  closeSync(await openLock(workspace, lock, path, patienceFor(ref)));
  try {
    if (readRefFile(workspace, ref) !== expected) return false;
    removeFile(path);
  } finally {
    removeFile(lock);
  }
  // git may have packed the ref in the meantime.
  const packed = readPackedRef(workspace, ref);
  return packed === null || swapByGit(workspace, ref, packed, null);
}

/** Removes a ref's lock that a killed process left. */
export function removeAbandonedLock({ commonDir }: Workspace, ref: string): void {
  const lock = join(commonDir, `${ref}.lock`);
  if (ageOf(lock) > LOCK_ABANDONED_MS) removeFile(lock);
}

function patienceFor(ref: string): number {
  return ref.startsWith(MOVED_BY_HOOKS) ? LOCK_WAIT_MS : LOCK_ABANDONED_MS + LOCK_WAIT_MS;
}

async function openLock({ kind }: Workspace, lock: string, path: string, patienceMs: number): Promise<number> {
  const isPrivate = kind === "private";
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return openSync(lock, "wx", isPrivate ? 0o600 : 0o644);
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOENT") mkdirSync(join(path, ".."), { recursive: true, mode: isPrivate ? 0o700 : 0o777 });
      else if (code !== "EEXIST") throw error;
      else if (ageOf(lock) > LOCK_ABANDONED_MS) removeFile(lock);
      else if (performance.now() > deadline) {
        throw new ProblemError<GitProblem>("failed", { kind: "ref-locked", lock });
      } else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function readRefFile(workspace: Workspace, ref: string): string | null {
  try {
    const text = readFileSync(join(workspace.commonDir, ref), "latin1").trim();
    if (/^[0-9a-f]{40,64}$/.test(text)) return text;
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "EISDIR") throw error;
  }
  return readPackedRef(workspace, ref);
}

function readPackedRef(workspace: Workspace, ref: string): string | null {
  let packed: string;
  try {
    packed = readFileSync(join(workspace.commonDir, "packed-refs"), "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  const at = packed.indexOf(` ${ref}\n`);
  if (at === -1) return null;
  return packed.slice(packed.lastIndexOf("\n", at) + 1, at);
}

async function swapByGit(
  workspace: Workspace,
  ref: string,
  expected: string | null,
  next: string | null,
): Promise<boolean> {
  const zero = "0".repeat(workspace.hash === "sha1" ? 40 : 64);
  const old = expected ?? zero;
  const input = next === null ? `delete ${ref}\0${expected ?? ""}\0` : `update ${ref}\0${next}\0${old}\0`;
  // A reflog would keep deleted objects alive.
  const unlogged = ["-c", "core.logAllRefUpdates=false"];
  const result = await gitIn(workspace).try([...unlogged, "update-ref", "-z", "--stdin"], { input });
  return result.code === 0;
}
