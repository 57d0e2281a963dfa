/**
 * Deletes a directory that is provably ours: renames it within its parent, then reads each file again and deletes it
 * only if its bytes are held elsewhere. The list is on disk before the rename, so the next command can continue after
 * a kill. Everything else stays and returns to the directory's old path.
 */

import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, messageOf } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { shownPath } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { contentId } from "../apply/content.ts";
import { ForkError } from "../fork/problems.ts";

export interface Removal {
  v: 1;
  directory: string;
  /** The directory's path during the removal. */
  aside: string;
  /** The directory's inode. */
  inode: string;
  hash: Workspace["hash"];
  /** Paths and content ids that are held elsewhere. */
  files: [path: string, id: string][];
  /** Paths to delete whatever they contain, because the user agreed or they hold no work. "" means everything. */
  whole: string[];
  /** Set after the rename: a directory at the old path is then a different one, even with the same inode. */
  begun?: true;
}

/** The paths that stayed, and their current directory. */
export interface Leftovers {
  paths: string[];
  directory: string;
}

/** `id` makes the name unique, so that it can't match a user's directory. */
export function newRemoval(
  directory: string,
  id: string,
  hash: Workspace["hash"],
  files: ReadonlyMap<string, string>,
  whole: readonly string[],
): Removal {
  const inode = inodeOf(directory);
  if (inode === undefined) throw new ForkError("failed", { kind: "directory-gone", directory });
  return { v: 1, directory, aside: asideOf(directory, id), inode, hash, files: [...files], whole: [...whole] };
}

/** Validates a removal that was read from a file. */
export function isRemoval(value: unknown, id: string): value is Removal {
  const { v, directory, aside, inode, files, whole } = (value ?? {}) as Partial<Removal>;
  if (v !== 1 || typeof directory !== "string" || typeof inode !== "string") return false;
  return aside === asideOf(directory, id) && Array.isArray(files) && Array.isArray(whole);
}

function asideOf(directory: string, id: string): string {
  return join(dirname(directory), `.${basename(directory)}.${id}`);
}

/** `waiting`: the directory is not renamed yet. `begun`: it is renamed. `gone`: neither path exists. */
export function removalState({ directory, aside, inode, begun }: Removal): "waiting" | "begun" | "gone" {
  if (inodeOf(aside) === inode) return "begun";
  return !begun && inodeOf(directory) === inode ? "waiting" : "gone";
}

/** The point of no return. `save` persists the removal. */
export function setAside(removal: Removal, save: () => void): void {
  const { directory, aside, inode } = removal;
  if (lstatSync(aside, { throwIfNoEntry: false })) {
    throw new ForkError("refused", { kind: "aside-exists", directory: aside });
  }
  try {
    renameSync(directory, aside);
  } catch (error) {
    throw new ForkError("failed", { kind: "not-removed", directory, reason: messageOf(error) });
  }
  if (inodeOf(aside) === inode) {
    removal.begun = true;
    save();
    return;
  }
  renameSync(aside, directory);
  throw new ForkError("refused", { kind: "directory-replaced", directory });
}

/** Null if everything was deleted. Repeatable after a kill. */
export function finishRemoval(removal: Removal): Leftovers | null {
  const { directory, aside, hash } = removal;
  if (removalState(removal) !== "begun") return null;
  const held = new Map(removal.files);
  const whole = new Set(removal.whole);
  const isHeld = (path: string) => held.has(path) && contentId(onDisk(aside, path), hash) === held.get(path);
  const emptying = new Emptying(aside, whole, isHeld);
  emptying.empty("", whole.has(""));
  faultPoint("removal:emptied");
  removeGitLink(aside);
  const { left } = emptying;
  if (left.length === 0) {
    try {
      rmdirSync(aside);
      return null;
    } catch (error) {
      if (codeOf(error) !== "ENOTEMPTY") throw error;
      left.push(...namesAt(aside, ""));
    }
  }
  // If it holds no user's work, the rest need not return to the old path.
  return { paths: left, directory: whole.has("") ? aside : giveBack(aside, directory) };
}

/** Deletes whatever is at a path below a directory of ours. Deletes links without following them. */
export function removeWhole(root: string, path: string): void {
  const emptying = new Emptying(root, new Set(), () => false);
  emptying.remove(path, true);
  if (emptying.left.length > 0) throw new Error(`${shownPath(path)} could not be removed.`);
}

class Emptying {
  readonly left: string[] = [];
  readonly #root: string;
  readonly #device: bigint;
  readonly #whole: ReadonlySet<string>;
  readonly #isHeld: (path: string) => boolean;

  constructor(root: string, whole: ReadonlySet<string>, isHeld: (path: string) => boolean) {
    this.#root = root;
    this.#device = lstatSync(root, { bigint: true }).dev;
    this.#whole = whole;
    this.#isHeld = isHeld;
  }

  empty(directory: string, everything: boolean): void {
    for (const name of namesAt(this.#root, directory)) {
      const path = directory === "" ? name : `${directory}/${name}`;
      // The link to git's record is deleted last, because it identifies the rest.
      if (path !== ".git" || everything) this.remove(path, everything || this.#whole.has(path));
    }
  }

  remove(path: string, everything: boolean): void {
    const stat = lstatSync(onDisk(this.#root, path), { bigint: true, throwIfNoEntry: false });
    if (!stat) return;
    try {
      if (stat.isDirectory()) {
        if (stat.dev !== this.#device) throw new Error("Another file system is mounted there.");
        this.empty(path, everything);
        retried(this.#root, path, rmdirSync);
        return;
      }
      // Pipes and sockets contain no bytes.
      const hasBytes = stat.isFile() || stat.isSymbolicLink();
      if (everything || !hasBytes || this.#isHeld(path)) retried(this.#root, path, unlinkSync);
      else this.left.push(path);
    } catch (error) {
      if (stat.isDirectory() && codeOf(error) === "ENOTEMPTY" && this.left.length > 0) return;
      logError(`removing ${shownPath(path)}`, error);
      this.left.push(path);
    }
  }
}

/** Renames what stayed to the directory's own path, if that is free. */
function giveBack(aside: string, directory: string): string {
  if (lstatSync(directory, { throwIfNoEntry: false })) return aside;
  renameSync(aside, directory);
  return directory;
}

function removeGitLink(aside: string): void {
  const link = join(aside, ".git");
  if (lstatSync(link, { throwIfNoEntry: false })?.isFile()) unlinkSync(link);
}

/** Makes a read-only directory writable and tries again: a command or package manager may have locked it. */
function retried(root: string, path: string, remove: (place: string | Buffer) => void): void {
  try {
    remove(onDisk(root, path));
  } catch (error) {
    if (codeOf(error) !== "EACCES" && codeOf(error) !== "EPERM") throw error;
    const slash = path.lastIndexOf("/");
    chmodSync(slash === -1 ? root : onDisk(root, path.slice(0, slash)), 0o700);
    remove(onDisk(root, path));
  }
}

function namesAt(root: string, path: string): string[] {
  const place = onDisk(root, path === "" ? "." : path);
  try {
    return readdirSync(place, { encoding: "buffer" }).map(decodePath);
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw error;
    chmodSync(place, 0o700);
    return readdirSync(place, { encoding: "buffer" }).map(decodePath);
  }
}

function inodeOf(directory: string): string | undefined {
  const stat = lstatSync(directory, { bigint: true, throwIfNoEntry: false });
  return stat?.isDirectory() ? String(stat.ino) : undefined;
}

/** Moves a directory to a free path. False if there is nothing to move. */
export function moveDirectory(from: string | Buffer, to: string): boolean {
  if (!lstatSync(from, { throwIfNoEntry: false }) || lstatSync(to, { throwIfNoEntry: false })) return false;
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
  return true;
}
