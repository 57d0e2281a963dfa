/**
 * Locates, reads and writes a file that belongs to the user or to another tool. Resolves symbolic links safely, reads
 * and writes the whole file, and preserves its mode and owner.
 */

import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { removeFile, writeFileAtomic } from "../base/fs/files.ts";
import { isInside } from "../base/paths.ts";
import { EditError } from "./problems.ts";

export interface Target {
  /** The path that the caller passed. */
  path: string;
  /** The real path, with all symbolic links resolved. */
  real: string;
  isLink: boolean;
  /** Parent directories to create, outermost first. */
  missing: string[];
  stats: Stats | undefined;
}

/** `within` is a directory that the real path must not leave. */
export function locate(path: string, within?: string): Target {
  const target = isThere(path) ? existing(path) : absent(path);
  if (within !== undefined && !isOf(realpathSync(within), target.real)) {
    throw new EditError("refused", { kind: "link-leads-outside", path, real: target.real, within });
  }
  return target;
}

/** True for a path inside the work tree but outside its `.git` directory. */
function isOf(root: string, real: string): boolean {
  return isInside(root, real) && !isInside(join(root, ".git"), real);
}

/** Returns the real parent directory of `path`, and its missing components, outermost first. */
export function realParent(path: string): { directory: string; missing: string[] } {
  let nearest = dirname(path);
  const names: string[] = [];
  while (!isThere(nearest) && dirname(nearest) !== nearest) {
    names.unshift(basename(nearest));
    nearest = dirname(nearest);
  }
  let directory = followed(nearest, "directory");
  if (!statSync(directory).isDirectory()) {
    throw new EditError("refused", { kind: "file-in-the-way", path });
  }
  const missing: string[] = [];
  for (const name of names) {
    directory = join(directory, name);
    missing.push(directory);
  }
  return { directory, missing };
}

export function readTarget(target: Target): Buffer | null {
  if (!target.stats) return null;
  try {
    return readFileSync(target.real);
  } catch (error) {
    throw new EditError("refused", {
      kind: "settings-file-unreadable",
      path: target.path,
      code: codeOf(error) ?? String(error),
    });
  }
}

/** `mode` is for a new file, before the umask. */
export function writeTarget(target: Target, content: Buffer, mode = 0o666): void {
  checkWritable(target);
  const { stats } = target;
  try {
    for (const directory of target.missing) makeOnce(directory);
    writeFileAtomic(target.real, content, { mode: stats ? stats.mode & 0o7777 : mode, sync: true });
    if (stats) keepAttributes(target.real, stats);
  } catch (error) {
    throw unwritable(target.path, error);
  }
}

/** Removes the file, and then every empty directory of `directories` (innermost last). */
export function removeTarget(target: Target, directories: readonly string[]): void {
  checkWritable(target);
  try {
    removeFile(target.real);
  } catch (error) {
    throw unwritable(target.path, error);
  }
  removeEmpty(directories);
}

export function removeEmpty(directories: readonly string[]): void {
  for (const directory of [...directories].reverse()) {
    try {
      rmdirSync(directory);
    } catch {
      // Either the directory is in use (not empty) or it does not exist.
    }
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    if (codeOf(error) === "ENOTDIR") {
      throw new EditError("refused", { kind: "file-in-the-way", path });
    }
    throw new EditError("refused", { kind: "directory-unreachable", path, code: codeOf(error) ?? String(error) });
  }
}

function existing(path: string): Target {
  const isLink = lstatSync(path).isSymbolicLink();
  const real = followed(path, "file");
  const stats = statSync(real);
  if (stats.isDirectory()) throw new EditError("refused", { kind: "is-directory", path });
  if (!stats.isFile()) throw new EditError("refused", { kind: "not-regular", path });
  return { path, real, isLink, missing: [], stats };
}

function absent(path: string): Target {
  const { directory, missing } = realParent(path);
  return { path, real: join(directory, basename(path)), isLink: false, missing, stats: undefined };
}

function followed(path: string, to: "file" | "directory"): string {
  try {
    return realpathSync(path);
  } catch {
    throw new EditError("refused", { kind: "link-dangling", path, to });
  }
}

/** An atomic write renames over the file and would ignore its write protection, so check the mode first. */
export function checkWritable(target: Target): void {
  if (!target.stats) return;
  const isProtected = (target.stats.mode & 0o222) === 0;
  if (!isProtected && mayWrite(target.real)) return;
  throw new EditError("refused", { kind: "read-only", path: target.path });
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function makeOnce(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function keepAttributes(path: string, before: Stats): void {
  const after = statSync(path);
  if (after.uid !== before.uid || after.gid !== before.gid) {
    try {
      chownSync(path, before.uid, before.gid);
    } catch {
      // Only the superuser may change a file's owner; the content is correct either way.
    }
  }
  if (after.mode !== before.mode) chmodSync(path, before.mode & 0o7777);
}

function unwritable(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  return new EditError("failed", { kind: "file-not-written", path, code });
}
