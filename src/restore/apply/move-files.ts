/**
 * Applies a plan to files. Moves an existing file aside instead of overwriting it; discard.ts deletes it after
 * checking that the safety step holds its content. Every move can be repeated after a kill, and rolled back.
 */

import { type BigIntStats, chmodSync, mkdirSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { codeOf, isAbsence, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn } from "../../base/fs/files.ts";
import { decodePath, directoriesAbove, onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { parentsOf } from "../../base/fs/tree-paths.ts";
import { EXECUTABLE_MODE, SYMLINK_MODE } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import { RestoreError } from "../problems.ts";
import type { PlannedChmod } from "../types.ts";
import { contentId } from "./content.ts";
import { asideDirectory, asidesOf, MAX_ASIDES, placedIds, WITHDRAWN } from "./discard.ts";
import { failure } from "./errors.ts";
import { type Journal, restoreDirectory } from "./journal.ts";
import {
  type FsPath,
  finishMove,
  makeOne,
  moveAside,
  place,
  removeEmptyTree,
  removeIfEmpty,
  safeStat,
} from "./move.ts";
import { stagedPlace } from "./stage.ts";

export class FileMoves {
  readonly #root: string;
  readonly #hash: Workspace["hash"];
  readonly #directory: string;
  readonly #aside: string;
  readonly #journal: Journal;
  readonly #checked = new Set<string>();
  /** Planned permissions of directories. */
  readonly #directories: ReadonlyMap<string, number>;
  #moved = 0;
  #fresh = false;
  #isBackward = false;

  constructor(workspace: Workspace, journal: Journal) {
    this.#root = workspace.root;
    this.#hash = workspace.hash;
    this.#directory = restoreDirectory(workspace, journal.id);
    this.#aside = asideDirectory(this.#directory);
    this.#journal = journal;
    this.#directories = new Map(journal.files.directories?.map(({ path, permissions }) => [path, permissions]));
  }

  /** Idempotent: skips what an earlier attempt did. `fresh`: there was no earlier attempt. */
  forward(fresh: boolean): void {
    this.#fresh = fresh;
    mkdirSync(this.#aside, { recursive: true, mode: 0o700 });
    if (!fresh) this.#finishMoves();
    const { files } = this.#journal;
    for (const [slot, path] of files.delete.entries()) this.#guarded(path, () => this.#remove(path, slot));
    this.#prune();
    faultPoint("restore:deleted");
    for (const [i, { path }] of files.write.entries()) this.#guarded(path, () => this.#write(path, i));
    for (const planned of files.chmod) this.#guarded(planned.path, () => this.#chmod(planned));
    for (const [path, permissions] of this.#directories)
      this.#guarded(path, () => this.#setDirectoryMode(path, permissions));
  }

  /** True if a rollback has begun; it must then be completed. */
  get isRollingBack(): boolean {
    return namesIn(this.#aside).some((name) => name.endsWith(WITHDRAWN));
  }

  /** Undoes everything that `forward` did. Returns the paths that changed meanwhile, which it leaves alone. */
  backward(): string[] {
    this.#fresh = false;
    this.#isBackward = true;
    this.#finishMoves();
    const asides = new Set(namesIn(this.#aside));
    const { files, modes } = this.#journal;
    const left: string[] = [];
    for (const { path } of files.chmod) {
      const mode = modes[path];
      const target = onDisk(this.#root, path);
      // The file may have been removed or replaced by a link since.
      if (mode !== undefined && this.#isReachable(path) && safeStat(target)?.isFile()) setMode(target, mode);
    }
    for (const [i, { path }] of [...files.write.entries()].reverse()) {
      // A file that is no longer staged has been placed.
      const withdrawn = safeStat(this.#staged(i)) !== undefined || this.#withdraw(path, i);
      if (!withdrawn || !this.#putBack(path, asidesOf(asides, files.delete.length + i))) left.push(path);
      faultPoint(`rollback:file:${this.#moved++}`);
    }
    for (const [slot, path] of [...files.delete.entries()].reverse()) {
      if (!this.#putBack(path, asidesOf(asides, slot))) left.push(path);
      faultPoint(`rollback:file:${this.#moved++}`);
    }
    // Deepest first: a parent must stay accessible until its contents are done.
    for (const path of Object.keys(modes).sort().reverse())
      if (path.endsWith("/")) this.#setDirectoryMode(path.slice(0, -1), modes[path] ?? 0);
    return left.reverse();
  }

  #remove(path: string, slot: number): void {
    if (!this.#isReachable(path)) return;
    const target = onDisk(this.#root, path);
    const standing = safeStat(target);
    if (!standing || standing.isDirectory()) return;
    // An earlier attempt moved the file aside, so the current file is newer.
    if (!this.#fresh && safeStat(this.#slot(String(slot)))) return;
    this.#moveAside(path, String(slot));
    faultPoint(`restore:file:${this.#moved++}`);
  }

  #write(path: string, n: number): void {
    const slot = String(this.#journal.files.delete.length + n);
    const staged = this.#staged(n);
    if (!this.#fresh && !safeStat(staged)) return;
    const target = onDisk(this.#root, path);
    this.#makeParents(path);
    // The plan saw a file here: skip the attempt that would fail.
    if (this.#fresh && this.#journal.safety.some(({ held }) => held?.[path] !== undefined)) {
      this.#moveAside(path, slot);
      faultPoint(`restore:aside:${this.#moved}`);
    }
    // Freshly staged files already have their permissions.
    if (!this.#fresh && this.#journal.files.write[n]?.permissions === undefined)
      this.#keepPermissions(staged, safeStat(this.#slot(slot)) ?? safeStat(target));
    const isFile = this.#journal.files.write[n]?.entry.mode !== SYMLINK_MODE;
    for (let attempt = 0; attempt < MAX_ASIDES; attempt++) {
      if (place(staged, target, this.#beside(path, slot, NEW), isFile)) {
        faultPoint(`restore:file:${this.#moved++}`);
        return;
      }
      if (safeStat(target)?.isDirectory()) {
        if (removeEmptyTree(target)) continue;
        throw new RestoreError("refused", { kind: "became-directory", path });
      }
      this.#moveAside(path, this.#freeSlot(slot));
      faultPoint(`restore:aside:${this.#moved}`);
    }
    throw new RestoreError("failed", { kind: "written-by-other", path });
  }

  #keepPermissions(staged: string | Buffer, replaced: BigIntStats | undefined): void {
    const stat = safeStat(staged);
    if (!stat?.isFile() || !replaced?.isFile()) return;
    const mode = permissionsAfter(Number(replaced.mode), (Number(stat.mode) & 0o100) !== 0);
    if (mode !== (Number(stat.mode) & 0o7777)) setMode(staged, mode);
  }

  #setDirectoryMode(path: string, mode: number): void {
    const place = onDisk(this.#root, path);
    if (this.#isReachable(path) && safeStat(place)?.isDirectory()) setMode(place, mode);
  }

  #chmod({ path, mode, permissions }: PlannedChmod): void {
    if (!this.#isReachable(path)) return;
    const target = onDisk(this.#root, path);
    const stat = safeStat(target);
    if (!stat?.isFile()) return;
    const now = Number(stat.mode) & 0o777;
    // Like git: executable for everyone who can read the file.
    setMode(target, permissions ?? (mode === EXECUTABLE_MODE ? now | ((now & 0o444) >> 2) : now & ~0o111));
    faultPoint(`restore:file:${this.#moved++}`);
  }

  /**
   * Removes a placed file if it is unchanged. Checks its content again after moving it out of its path. Returns false,
   * with the file back at its path, if another process changed it.
   */
  #withdraw(path: string, n: number): boolean {
    const slot = `${this.#journal.files.delete.length + n}${WITHDRAWN}`;
    const [target, out] = [onDisk(this.#root, path), this.#slot(slot)];
    const placed = placedIds(this.#journal, n);
    const isOurs = (file: FsPath) => placed.includes(contentId(file, this.#hash) ?? "");
    if (!this.#isReachable(path)) return true;
    if (!safeStat(out)) {
      if (!safeStat(target)) return true;
      if (!isOurs(target)) return false;
      if (!this.#moveAside(path, slot)) return true;
      faultPoint(`rollback:aside:${this.#moved}`);
      if (!isOurs(out)) {
        this.#place(out, path, slot);
        return false;
      }
    }
    this.#pruneAbove(path);
    return true;
  }

  /** Restores the file that was moved aside last; false if another file occupies its path. */
  #putBack(path: string, asides: readonly string[]): boolean {
    const aside = asides.at(-1);
    if (aside === undefined) return true;
    if (parentsOf(path).some((parent) => safeStat(onDisk(this.#root, parent))?.isDirectory() === false)) return false;
    this.#checked.clear();
    this.#makeParents(path);
    const from = this.#slot(aside);
    if (!safeStat(from)?.isDirectory()) return this.#place(from, path, aside);
    const target = onDisk(this.#root, path);
    try {
      // rename() only replaces an empty directory, and this one is ours.
      mkdirSync(target);
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
    renameSync(from, target);
    return true;
  }

  #moveAside(path: string, slot: string): boolean {
    return moveAside(onDisk(this.#root, path), this.#slot(slot), this.#beside(path, slot, OLD));
  }

  #place(from: FsPath, path: string, slot: string): boolean {
    return place(from, onDisk(this.#root, path), this.#beside(path, slot, NEW));
  }

  /**
   * Completes moves across file systems that a kill interrupted: `beside` holds either the only copy or a redundant
   * one.
   */
  #finishMoves(): void {
    const { files, id } = this.#journal;
    const paths = [...files.delete, ...files.write.map(({ path }) => path)];
    const name = new RegExp(`^\\.backtrail-${id}-([\\w.]+)\\.(?:${OLD}|${NEW})$`);
    for (const directory of directoriesAbove(paths)) {
      if (!this.#isReachable(`${directory}/x`)) continue;
      const place = directory === "." ? this.#root : onDisk(this.#root, directory);
      for (const found of namesOf(place)) {
        const slot = name.exec(found)?.[1];
        if (slot === undefined) continue;
        const path = onDisk(this.#root, directory === "." ? found : `${directory}/${found}`);
        if (found.endsWith(OLD)) finishMove(this.#slot(slot), path);
        else unlinkSync(path);
      }
    }
  }

  /** Creates missing directories above a path. Throws if a parent is a link or a file. */
  #makeParents(path: string): void {
    for (const parent of parentsOf(path)) {
      if (this.#checked.has(parent)) continue;
      const place = onDisk(this.#root, parent);
      const stat = safeStat(place);
      if (!stat) makeOne(place, this.#directoryMode(parent));
      else if (!stat.isDirectory()) {
        throw new RestoreError("refused", { kind: "parent-not-a-directory", path, parent });
      }
      this.#checked.add(parent);
    }
  }

  /** The planned mode, or the previous mode for a directory that is recreated. */
  #directoryMode(path: string): number | undefined {
    const was = this.#journal.modes[`${path}/`];
    return this.#isBackward ? was : (this.#directories.get(path) ?? was);
  }

  #isReachable(path: string): boolean {
    return isReachable(this.#root, path);
  }

  /** Removes directories that the deletes emptied. */
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

  #staged(n: number): FsPath {
    return stagedPlace(this.#directory, this.#journal, n);
  }

  #slot(slot: string): string {
    return join(this.#aside, slot);
  }

  #freeSlot(slot: string): string {
    let name = slot;
    for (let i = 1; safeStat(this.#slot(name)); i++) name = `${slot}.${i}`;
    return name;
  }

  /** A temporary name in the same directory, for moves between file systems. */
  #beside(path: string, slot: string, kind: string): FsPath {
    const directory = parentOf(path);
    const name = `.backtrail-${this.#journal.id}-${slot}.${kind}`;
    return onDisk(this.#root, directory === "." ? name : `${directory}/${name}`);
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

const OLD = "old";
const NEW = "new";

/** True if every directory above a path exists and is not a link. */
export function isReachable(root: string, path: string): boolean {
  return parentsOf(path).every((parent) => safeStat(onDisk(root, parent))?.isDirectory());
}

function namesOf(directory: FsPath): string[] {
  try {
    return readdirSync(directory, { encoding: "buffer" }).map((name) => decodePath(name));
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

/** The mode of a file that replaces one with mode `replaced`. Like git: executable for everyone who can read it. */
export function permissionsAfter(replaced: number, isExecutable: boolean): number {
  const readable = replaced & 0o666;
  return isExecutable ? readable | ((readable & 0o444) >> 2) : readable;
}

export function setMode(target: string | Buffer, mode: number): void {
  try {
    chmodSync(target, mode);
  } catch (error) {
    // The file system has no modes, or another user owns the file. git ignores this too.
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "ENOTSUP") throw error;
  }
}
