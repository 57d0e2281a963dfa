/**
 * Writes files in a work tree, where a clone or an archive may have placed symbolic links. Never creates, changes or
 * removes anything through a link. `root` itself is the user's choice and may contain links.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { codeOf } from "../errors.ts";
import { isInside } from "../paths.ts";
import { BaseError } from "../problems.ts";
import { appendTo, makeDirectory, writeFileAtomic } from "./files.ts";

const PRIVATE_FILE = 0o600;

/** Throws if a component of `path` below `root` is a link, or if `path` is not below `root`. */
export function refuseLinks(root: string, path: string): void {
  if (!isInside(root, path)) throw new BaseError("refused", { kind: "path-outside", path, root });
  let at = root;
  for (const name of relative(root, path).split(sep)) {
    if (name === "") continue;
    at = join(at, name);
    const found = statOf(at);
    if (found === undefined) return;
    if (found.isSymbolicLink()) throw isLink(at);
  }
}

/** Whether `refuseLinks` accepts `path`. */
export function isFreeOfLinks(root: string, path: string): boolean {
  try {
    refuseLinks(root, path);
    return true;
  } catch {
    return false;
  }
}

export function makeGuardedDirectory(root: string, path: string): void {
  refuseLinks(root, path);
  makeDirectory(path);
}

/** O_NOFOLLOW also refuses a link created after the check. */
export function openGuarded(root: string, path: string, flags: number): number {
  refuseLinks(root, path);
  try {
    return openSync(path, flags | (constants.O_NOFOLLOW ?? 0), PRIVATE_FILE);
  } catch (error) {
    throw codeOf(error) === "ELOOP" ? isLink(path) : error;
  }
}

export function writeGuarded(
  root: string,
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; sync?: boolean } = {},
): void {
  makeGuardedDirectory(root, dirname(path));
  refuseLinks(root, path);
  writeFileAtomic(path, content, options);
}

/** Also refuses a file with several hard links: an archive may link it to another file. */
export function appendGuardedLine(root: string, path: string, line: string): void {
  makeGuardedDirectory(root, dirname(path));
  const fd = openGuarded(root, path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    if (fstatSync(fd).nlink > 1) throw hasOtherNames(path);
    appendTo(fd, line);
  } finally {
    closeSync(fd);
  }
}

function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Nothing exists below a file; a later write fails with the system's own error.
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

function isLink(path: string): BaseError {
  return new BaseError("refused", { kind: "path-is-link", path });
}

function hasOtherNames(path: string): BaseError {
  return new BaseError("refused", { kind: "path-has-other-names", path });
}
