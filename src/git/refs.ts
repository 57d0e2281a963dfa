/**
 * Refs of ours, changed only if they still hold what we last saw. With git's own files format this follows
 * git's lock protocol without starting git; other formats go through `git update-ref`.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, UserError } from "../base/errors.ts";
import { removeFile, writeAll } from "../base/files.ts";
import { gitLocation } from "./location.ts";
import { gitExitCode, tryGit } from "./run.ts";
import type { Workspace } from "./workspace.ts";

/** git holds a ref's lock for milliseconds; one this old was left by a process that was killed. */
const LOCK_ABANDONED_MS = 10_000;
/** Hooks move refs of sessions, and can't wait that long. */
const LOCK_WAIT_MS = 2_000;
const MOVED_BY_HOOKS = "refs/backtrail/sessions/";

export async function readRef(workspace: Workspace, ref: string): Promise<string | null> {
  if (workspace.refStorage === "files") return readRefFile(workspace, ref);
  const { args, cwd } = gitLocation(workspace);
  const result = await tryGit([...args, "rev-parse", "--verify", "--quiet", ref], { cwd });
  return result.code === 0 ? result.stdout.toString("latin1").trim() : null;
}

/** Without waiting, for what is decided before anything else can start. */
export function hasRef(workspace: Workspace, ref: string): boolean {
  if (workspace.refStorage === "files") return readRefFile(workspace, ref) !== null;
  const { args, cwd } = gitLocation(workspace);
  return gitExitCode([...args, "show-ref", "--verify", "--quiet", ref], cwd) === 0;
}

/** True when the ref held `expected` (null: did not exist) and now holds `next` (null: is gone). */
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
  const fd = await openLock(lock, path, patienceFor(ref));
  let [open, ours] = [true, true];
  try {
    if (readRefFile(workspace, ref) !== expected) return false;
    writeAll(fd, Buffer.from(`${next}\n`));
    closeSync(fd);
    open = false;
    renameSync(lock, path);
    // From here on a lock of that name is somebody else's.
    ours = false;
    return true;
  } finally {
    if (open) closeSync(fd);
    if (ours) removeFile(lock);
  }
}

/** Without git where the ref is a file of its own: a git that is killed leaves a lock that keeps out the user's git, too. */
async function deleteRef(workspace: Workspace, ref: string, expected: string | null): Promise<boolean> {
  if (readPackedRef(workspace, ref) !== null) return swapByGit(workspace, ref, expected, null);
  const path = join(workspace.commonDir, ref);
  const lock = `${path}.lock`;
  closeSync(await openLock(lock, path, patienceFor(ref)));
  try {
    if (readRefFile(workspace, ref) !== expected) return false;
    removeFile(path);
  } finally {
    removeFile(lock);
  }
  // git may have packed it at this very moment.
  const packed = readPackedRef(workspace, ref);
  return packed === null || swapByGit(workspace, ref, packed, null);
}

/** Takes a lock away that a killed process left beside a ref. */
export function removeAbandonedLock({ commonDir }: Workspace, ref: string): void {
  const lock = join(commonDir, `${ref}.lock`);
  if (ageOf(lock) > LOCK_ABANDONED_MS) removeFile(lock);
}

function patienceFor(ref: string): number {
  return ref.startsWith(MOVED_BY_HOOKS) ? LOCK_WAIT_MS : LOCK_ABANDONED_MS + LOCK_WAIT_MS;
}

async function openLock(lock: string, path: string, patienceMs: number): Promise<number> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return openSync(lock, "wx", 0o644);
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOENT") mkdirSync(join(path, ".."), { recursive: true });
      else if (code !== "EEXIST") throw error;
      else if (ageOf(lock) > LOCK_ABANDONED_MS) removeFile(lock);
      else if (performance.now() > deadline) {
        throw new UserError(
          "failed",
          `The ref's lock ${lock} is held.`,
          "If no git process is running, remove that file.",
        );
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
  const { args, cwd } = gitLocation(workspace);
  const old = expected ?? zero;
  const input = next === null ? `delete ${ref}\0${expected ?? ""}\0` : `update ${ref}\0${next}\0${old}\0`;
  const result = await tryGit([...args, "update-ref", "-z", "--stdin"], { cwd, input });
  return result.code === 0;
}
