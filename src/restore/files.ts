/**
 * Carries out a plan on files. Whatever stands in a file's place is moved aside first, never overwritten, and goes
 * only when the safety step is known to hold it. Every move can be repeated after a kill, and taken back.
 */
import { type BigIntStats, chmodSync, mkdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { codeOf, UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { onDisk, parentOf } from "../base/path-bytes.ts";
import { shownPath } from "../base/text.ts";
import { EXECUTABLE_MODE } from "../git/trees.ts";
import { failure } from "./failure.ts";
import type { Journal } from "./journal.ts";
import {
  makeOne,
  moveAside,
  type Place,
  place,
  removeEmptyTree,
  removeIfEmpty,
  safeStat,
  sameContent,
} from "./move.ts";
import { parentsOf } from "./plan.ts";
import { stagedPlace } from "./stage.ts";

const ATTEMPTS = 5;

export class FileMoves {
  readonly #root: string;
  readonly #directory: string;
  readonly #aside: string;
  readonly #journal: Journal;
  readonly #checked = new Set<string>();
  #moved = 0;
  #fresh = false;

  constructor(root: string, directory: string, journal: Journal) {
    this.#root = root;
    this.#directory = directory;
    this.#aside = asideDirectory(directory);
    this.#journal = journal;
  }

  /** Idempotent: what an earlier attempt did is not done again. `fresh`: there was none. */
  forward(fresh: boolean): void {
    this.#fresh = fresh;
    mkdirSync(this.#aside, { recursive: true, mode: 0o700 });
    const { files } = this.#journal;
    for (const [slot, path] of files.delete.entries()) this.#guarded(path, () => this.#remove(path, slot));
    this.#prune();
    faultPoint("restore:deleted");
    for (const [i, { path }] of files.write.entries()) this.#guarded(path, () => this.#write(path, i));
    for (const { path, mode } of files.chmod) this.#guarded(path, () => this.#chmod(path, mode));
  }

  /** Everything back where it was, as far as `forward` came. */
  backward(): void {
    this.#fresh = false;
    const { files, modes } = this.#journal;
    for (const { path } of files.chmod) {
      const mode = modes[path];
      if (mode !== undefined && this.#isReachable(path)) setMode(onDisk(this.#root, path), mode);
    }
    for (const [i, { path }] of [...files.write.entries()].reverse()) {
      const slot = files.delete.length + i;
      const staged = this.#staged(i);
      const target = onDisk(this.#root, path);
      // What lies there now is what was put there: it was staged, and no longer is.
      if (!safeStat(staged) && this.#isReachable(path)) {
        moveAside(target, staged);
        this.#pruneAbove(path);
      }
      this.#putBack(path, slot);
    }
    for (const [slot, path] of [...files.delete.entries()].reverse()) this.#putBack(path, slot);
  }

  #remove(path: string, slot: number): void {
    if (!this.#isReachable(path)) return;
    const target = onDisk(this.#root, path);
    const standing = safeStat(target);
    if (!standing || standing.isDirectory()) return;
    const taken = this.#fresh ? undefined : safeStat(this.#slot(slot));
    if (taken) {
      // Done before, and what stands there now came later; unless a copy was made but its original not yet removed.
      if (taken.dev !== standing.dev && sameContent(target, this.#slot(slot))) unlinkSync(target);
      return;
    }
    moveAside(target, this.#slot(slot));
    faultPoint(`restore:file:${this.#moved++}`);
  }

  #write(path: string, n: number): void {
    const slot = this.#journal.files.delete.length + n;
    const staged = this.#staged(n);
    if (!this.#fresh && !safeStat(staged)) return;
    const target = onDisk(this.#root, path);
    this.#makeParents(path);
    // A file was there when the plan was made: no need to find out by trying.
    if (this.#fresh && this.#journal.marks[path] !== undefined) {
      moveAside(target, this.#slot(slot));
      faultPoint(`restore:aside:${this.#moved}`);
    }
    // What was staged just now has them already.
    if (!this.#fresh) this.#keepPermissions(staged, safeStat(this.#slot(slot)) ?? safeStat(target));
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (place(staged, target, onDisk(this.#root, temporaryName(path, this.#journal.id, slot)))) {
        faultPoint(`restore:file:${this.#moved++}`);
        return;
      }
      if (safeStat(target)?.isDirectory() && removeEmptyTree(target)) continue;
      moveAside(target, this.#freeSlot(slot));
      faultPoint(`restore:aside:${this.#moved}`);
    }
    throw new UserError("failed", `${shownPath(path)} is being written by another process again and again.`);
  }

  #keepPermissions(staged: string | Buffer, replaced: BigIntStats | undefined): void {
    const stat = safeStat(staged);
    if (!stat?.isFile() || !replaced?.isFile()) return;
    const mode = permissionsAfter(Number(replaced.mode), (Number(stat.mode) & 0o100) !== 0);
    if (mode !== (Number(stat.mode) & 0o7777)) setMode(staged, mode);
  }

  #chmod(path: string, mode: string): void {
    if (!this.#isReachable(path)) return;
    const target = onDisk(this.#root, path);
    const stat = safeStat(target);
    if (!stat?.isFile()) return;
    const now = Number(stat.mode) & 0o777;
    // As git does: executable for whoever may read it.
    setMode(target, mode === EXECUTABLE_MODE ? now | ((now & 0o444) >> 2) : now & ~0o111);
    faultPoint(`restore:file:${this.#moved++}`);
  }

  #putBack(path: string, slot: number): void {
    const aside = this.#slot(slot);
    if (!safeStat(aside)) return;
    this.#checked.clear();
    this.#makeParents(path);
    if (safeStat(aside)?.isDirectory()) moveAside(aside, onDisk(this.#root, path));
    else place(aside, onDisk(this.#root, path), onDisk(this.#root, temporaryName(path, this.#journal.id, slot)));
  }

  /** Every directory above a path is a directory and no link; those that are missing are made. */
  #makeParents(path: string): void {
    for (const parent of parentsOf(path)) {
      if (this.#checked.has(parent)) continue;
      const place = onDisk(this.#root, parent);
      const stat = safeStat(place);
      if (!stat) makeOne(place);
      else if (!stat.isDirectory()) {
        throw new UserError(
          "refused",
          `${shownPath(parent)} is no directory any more, so ${shownPath(path)} can't be written.`,
        );
      }
      this.#checked.add(parent);
    }
  }

  /** Whether the path can be reached without following a link. */
  #isReachable(path: string): boolean {
    return parentsOf(path).every((parent) => safeStat(onDisk(this.#root, parent))?.isDirectory());
  }

  /** Directories that the deletes emptied. */
  #prune(): void {
    for (const path of this.#journal.files.delete) this.#pruneAbove(path);
  }

  #pruneAbove(path: string): void {
    if (!this.#isReachable(parentOf(path) === "." ? path : parentOf(path))) return;
    for (const parent of parentsOf(path).reverse()) {
      if (!removeIfEmpty(onDisk(this.#root, parent))) return;
      this.#checked.delete(parent);
    }
  }

  #staged(n: number): Place {
    return stagedPlace(this.#directory, this.#journal, n);
  }

  #slot(slot: number): string {
    return join(this.#aside, String(slot));
  }

  #freeSlot(slot: number): string {
    let place = this.#slot(slot);
    for (let i = 1; safeStat(place); i++) place = `${this.#slot(slot)}.${i}`;
    return place;
  }

  #guarded(path: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw failure(path, error);
    }
  }
}

export function asideDirectory(directory: string): string {
  return join(directory, "old");
}

/** In the same directory, for file systems where a staged file can't simply be moved into place. */
function temporaryName(path: string, id: string, slot: number): string {
  const directory = parentOf(path);
  const name = `.backtrail-${id}-${slot}`;
  return directory === "." ? name : `${directory}/${name}`;
}

/** Of a file that replaces one of the mode `replaced`: as git does, executable for whoever may read it. */
export function permissionsAfter(replaced: number, isExecutable: boolean): number {
  const readable = replaced & 0o666;
  return isExecutable ? readable | ((readable & 0o444) >> 2) : readable;
}

export function setMode(target: string | Buffer, mode: number): void {
  try {
    chmodSync(target, mode);
  } catch (error) {
    // File systems without modes, and files of somebody else: git goes on as well.
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "ENOTSUP") throw error;
  }
}
