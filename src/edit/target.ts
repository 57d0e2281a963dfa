/**
 * The file behind a path of somebody else's: found without being led astray by symbolic links, read whole, written
 * whole, with its mode and owner kept.
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
import { codeOf, UserError } from "../base/errors.ts";
import { removeFile, writeFileAtomic } from "../base/files.ts";
import { isInside } from "../base/paths.ts";
import { shownPath } from "../base/text.ts";

export interface Target {
  /** The path that was asked for. */
  path: string;
  /** The file itself, behind every symbolic link. */
  real: string;
  isLink: boolean;
  /** Directories that must be made for it, outermost first. */
  missing: string[];
  stats: Stats | undefined;
}

/** `within` is a directory that the real file must not leave. */
export function locate(path: string, within?: string): Target {
  const target = isThere(path) ? existing(path) : absent(path);
  if (within !== undefined && !isInside(realpathSync(within), target.real)) {
    throw new UserError(
      "refused",
      `${shownPath(path)} leads to ${shownPath(target.real)}, outside ${shownPath(within)}; it was left alone.`,
      "Replace the symbolic link by a file of its own, or use `--scope user`.",
    );
  }
  return target;
}

/** The directory that `path` lies in, behind every symbolic link, and what of it is missing, outermost first. */
export function realParent(path: string): { directory: string; missing: string[] } {
  let nearest = dirname(path);
  const names: string[] = [];
  while (!isThere(nearest) && dirname(nearest) !== nearest) {
    names.unshift(basename(nearest));
    nearest = dirname(nearest);
  }
  let directory = followed(nearest, "Make the directory it names, or remove the link.");
  if (!statSync(directory).isDirectory()) {
    throw unusable(path, "can't be made: a file stands where its directory should be", "Move that file away.");
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
    throw unusable(target.path, `can't be read (${codeOf(error) ?? error})`, "Check who owns it and its permissions.");
  }
}

export function writeTarget(target: Target, content: Buffer): void {
  checkWritable(target);
  const { stats } = target;
  try {
    for (const directory of target.missing) makeOnce(directory);
    writeFileAtomic(target.real, content, { mode: stats ? stats.mode & 0o7777 : 0o666, sync: true });
    if (stats) keepAttributes(target.real, stats);
  } catch (error) {
    throw unwritable(target.path, error);
  }
}

/** Removes the file, and those of `directories` (innermost last) that are empty then. */
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
      // Not empty: somebody uses it now. Not there: nothing to do.
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
      throw unusable(path, "can't be made: a file stands where its directory should be", "Move that file away.");
    }
    throw unusable(path, `can't be reached (${codeOf(error) ?? error})`, "Check the permissions of its directory.");
  }
}

function existing(path: string): Target {
  const isLink = lstatSync(path).isSymbolicLink();
  const real = followed(path, "Make the file it names, or remove the link.");
  const stats = statSync(real);
  if (stats.isDirectory()) throw unusable(path, "is a directory, not a file", "Move it away and try again.");
  if (!stats.isFile()) throw unusable(path, "is not a regular file", "Move it away and try again.");
  return { path, real, isLink, missing: [], stats };
}

function absent(path: string): Target {
  const { directory, missing } = realParent(path);
  return { path, real: join(directory, basename(path)), isLink: false, missing, stats: undefined };
}

function followed(path: string, hint: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw unusable(path, "is a symbolic link to nothing", hint);
  }
}

/** A rename would replace a file that its owner has write-protected, so that is asked first. */
export function checkWritable(target: Target): void {
  if (!target.stats) return;
  const isProtected = (target.stats.mode & 0o222) === 0;
  if (!isProtected && mayWrite(target.real)) return;
  throw unusable(target.path, "is read-only", "Make it writable, or choose another place with `--scope`.");
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
      // Only the superuser may give a file away; the content is right all the same.
    }
  }
  if (after.mode !== before.mode) chmodSync(path, before.mode & 0o7777);
}

function unwritable(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const reason = code === "ENOSPC" ? "the disk is full" : code;
  return new UserError("failed", `${shownPath(path)} could not be written (${reason}).`, "Nothing was changed in it.");
}

function unusable(path: string, problem: string, hint: string): UserError {
  return new UserError("refused", `${shownPath(path)} ${problem}.`, hint);
}
