/** Decides from two trees which files a restore writes and deletes, and which modes it changes. Changes nothing itself. */
import { isSafePath, parentsOf } from "../../base/fs/tree-paths.ts";
import type { TreeDifference } from "../../git/objects/tree-diff.ts";
import { EXECUTABLE_MODE, FILE_MODE, GITLINK_MODE, type TreeEntry } from "../../git/objects/trees.ts";
import type { NotCaptured } from "../../model/step.ts";
import type { LeftReason, SideEffect } from "../side-effects/model.ts";
import type { Conflict, ConflictReason, FilePlan, PlannedDirectory, PlannedWrite } from "../types.ts";
import type { PlannedPermissions } from "./permissions.ts";

export type PathType = "nothing" | "file" | "symlink" | "directory" | "other";

/** The current work tree, below its root. */
export interface WorkTreeView {
  at(path: string): PathType;
  /** All non-directory paths below a directory; undefined if the directory can't be listed. */
  below(path: string): string[] | undefined;
  /** True if the file system finds the path under a different name because it ignores case or Unicode composition. */
  hasOtherName(path: string): boolean;
}

export interface PlanInput {
  /** From the current state to the target. */
  differences: readonly TreeDifference[];
  /** Blob ids, by path, of exact bytes that git's filters would not reproduce: current, and at the target. */
  presentRaw: ReadonlyMap<string, string>;
  targetRaw: ReadonlyMap<string, string>;
  /** Target entries that git considers unchanged but whose bytes differ. */
  rawOnly: ReadonlyMap<string, TreeEntry>;
  uncapturedNow: readonly NotCaptured[];
  uncapturedAtTarget: readonly NotCaptured[];
  protectedDirectories: readonly string[];
  /** Paths whose index entries make git ignore the file (skip-worktree, assume-unchanged). */
  skipWorktreePaths: ReadonlySet<string>;
  /** Files that the target lacks and that its own rules ignore. Defaults to none. */
  ignoredAtTarget?: ReadonlySet<string>;
  permissions?: PlannedPermissions;
  isSelected: (path: string) => boolean;
  workTree: WorkTreeView;
}

/** A snapshot's entry at a path; `raw` names the exact bytes if git's filters would not reproduce them. */
export interface RecordedFile {
  work: TreeEntry;
  raw: string | null;
}

export interface Planned {
  files: FilePlan;
  /** The current entries at the paths that the plan deletes or writes. */
  replaced: Map<string, RecordedFile>;
  notUndone: SideEffect[];
  conflicts: Conflict[];
}

export function planFiles(input: PlanInput): Planned {
  const left = new LeftAlone(input);
  const files: FilePlan = { write: [], delete: [], chmod: [] };
  const replaced = new Map<string, RecordedFile>();
  const note = (path: string, work: TreeEntry | null) => {
    if (work) replaced.set(path, { work, raw: input.presentRaw.get(path) ?? null });
  };
  const writes: { path: string; entry: TreeEntry; before: TreeEntry | null }[] = [];
  for (const { path, before, after } of input.differences) {
    if (!input.isSelected(path) || left.leaves(path, before, after)) continue;
    if (after === null) {
      files.delete.push(path);
      note(path, before);
    } else if (isChmod(before, after) && sameBytes(input, path))
      files.chmod.push({ path, mode: after.mode, ...permissionsOf(input, path) });
    else writes.push({ path, entry: after, before });
  }
  for (const [path, entry] of input.rawOnly) {
    if (input.isSelected(path) && !left.leaves(path, entry, entry)) writes.push({ path, entry, before: entry });
  }
  for (const [path, { entry, permissions }] of input.permissions?.only ?? []) {
    if (input.isSelected(path) && !left.leaves(path, entry, entry))
      files.chmod.push({ path, mode: entry.mode, permissions });
  }
  const conflicts: Conflict[] = [];
  const removed = new Set(files.delete);
  const folded = new Set(files.delete.map(fold));
  // On such a file system, a file to delete can show up under the name of a file to write.
  const isRenamed = (path: string) => folded.has(fold(path)) && input.workTree.hasOtherName(path);
  for (const { path, entry, before } of writes) {
    const obstacle = obstacleAbove(input.workTree, path, removed);
    if (obstacle) conflicts.push({ path, reason: obstacle });
    else if (before === null && !isFree(input.workTree, path, removed) && !isRenamed(path)) left.inTheWay(path);
    else {
      files.write.push({ path, entry, raw: input.targetRaw.get(path) ?? null, ...permissionsOf(input, path) });
      note(path, before);
    }
  }
  files.directories = plannedDirectories(input, files.write);
  return { files, replaced, notUndone: left.effects(), conflicts };
}

function permissionsOf({ permissions }: PlanInput, path: string): Pick<PlannedWrite, "permissions" | "link"> {
  if (permissions?.links.has(path)) return { link: true };
  const known = permissions?.files.get(path);
  return known === undefined ? {} : { permissions: known };
}

/** Directories missing above the files to write, and existing directories whose permissions differ. */
function plannedDirectories(input: PlanInput, write: readonly PlannedWrite[]): PlannedDirectory[] {
  const planned = new Map<string, number>();
  for (const path of new Set(write.flatMap((file) => parentsOf(file.path)))) {
    const permissions = input.workTree.at(path) === "directory" ? undefined : input.permissions?.directory(path);
    if (permissions !== undefined) planned.set(path, permissions);
  }
  for (const [path, permissions] of input.permissions?.directories ?? [])
    if (input.isSelected(path)) planned.set(path, permissions);
  // Deepest first: a parent must stay accessible until its contents are done.
  return [...planned].map(([path, permissions]) => ({ path, permissions })).sort((a, b) => (a.path < b.path ? 1 : -1));
}

/** The path as a file system that ignores case and composition compares it. */
function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function isChmod(before: TreeEntry | null, after: TreeEntry): boolean {
  return before !== null && before.id === after.id && isRegular(before) && isRegular(after);
}

function isRegular({ mode }: TreeEntry): boolean {
  return mode === FILE_MODE || mode === EXECUTABLE_MODE;
}

function sameBytes(input: PlanInput, path: string): boolean {
  return input.presentRaw.get(path) === input.targetRaw.get(path);
}

/** The reason a path can't be written. A restore never writes through a link and never removes an unplanned file. */
function obstacleAbove(workTree: WorkTreeView, path: string, removed: ReadonlySet<string>): ConflictReason | undefined {
  for (const parent of parentsOf(path)) {
    const found = workTree.at(parent);
    if (found === "nothing") return undefined;
    if (found === "directory") continue;
    if (removed.has(parent)) return undefined;
    const type = found === "symlink" || found === "file" ? found : "special-file";
    return { kind: "obstacle", parent, type };
  }
  return undefined;
}

/** True if the plan deletes everything at `path`. */
function isFree(workTree: WorkTreeView, path: string, removed: ReadonlySet<string>): boolean {
  // If the plan deletes a link above the path, any file seen through that link belongs to the link's target.
  if (parentsOf(path).some((parent) => removed.has(parent))) return true;
  const found = workTree.at(path);
  if (found === "nothing") return true;
  if (found !== "directory") return false;
  return workTree.below(path)?.every((inner) => removed.has(inner)) ?? false;
}

const SHOWN_PATHS = 20;

/** Collects the paths that a restore leaves alone, with the reasons. */
class LeftAlone {
  readonly #missed = new Map<string, LeftReason>();
  readonly #protected: ReadonlySet<string>;
  readonly #unwatched: ReadonlySet<string>;
  readonly #ignoredThen: ReadonlySet<string> | undefined;
  /** Paths grouped by reason; the key is the reason as JSON. */
  readonly #left = new Map<string, { reason: LeftReason; paths: string[] }>();

  constructor(input: PlanInput) {
    this.#protected = new Set(input.protectedDirectories);
    this.#unwatched = input.skipWorktreePaths;
    this.#ignoredThen = input.ignoredAtTarget;
    for (const { path, why } of input.uncapturedAtTarget) this.#missed.set(path, notCaptured(why, "then"));
    for (const { path, why } of input.uncapturedNow) this.#missed.set(path, notCaptured(why, "now"));
    for (const { path, before, after } of input.differences) {
      if (before?.mode === GITLINK_MODE || after?.mode === GITLINK_MODE) this.#missed.set(path, SUBMODULE);
    }
  }

  leaves(path: string, before: TreeEntry | null, after: TreeEntry | null): boolean {
    const reason = this.#reason(path, before, after);
    if (reason !== undefined) this.#leave(path, reason);
    return reason !== undefined;
  }

  inTheWay(path: string): void {
    this.#leave(path, { kind: "in-the-way" });
  }

  effects(): SideEffect[] {
    return [...this.#left.values()].flatMap(({ reason, paths }) => {
      const all = paths.map((path) => ({ kind: "left-alone" as const, path, reason }));
      const [shown, like] = [all.slice(0, SHOWN_PATHS), all.at(-1)];
      const count = all.length - shown.length;
      return count > 0 && like ? [...shown, { kind: "more" as const, count, like }] : shown;
    });
  }

  #reason(path: string, before: TreeEntry | null, after: TreeEntry | null): LeftReason | undefined {
    if (!isSafePath(path)) return { kind: "unsafe-path" };
    const directory = selfAndParentsOf(path).find((above) => this.#protected.has(above));
    if (directory !== undefined) return { kind: "agents-own", directory };
    if (before?.mode === GITLINK_MODE || after?.mode === GITLINK_MODE) return SUBMODULE;
    if (after === null && this.#ignoredThen?.has(path)) return { kind: "ignored-then" };
    if (this.#unwatched.has(path)) return { kind: "unwatched" };
    return selfAndParentsOf(path)
      .map((above) => this.#missed.get(above))
      .find((reason) => reason !== undefined);
  }

  #leave(path: string, reason: LeftReason): void {
    const key = JSON.stringify(reason);
    const known = this.#left.get(key);
    if (known) known.paths.push(path);
    else this.#left.set(key, { reason, paths: [path] });
  }
}

const SUBMODULE = notCaptured("submodule", "now");

function notCaptured(reason: NotCaptured["why"], when: "now" | "then"): LeftReason {
  return { kind: "not-captured", reason, when };
}

/** The path itself, then its parents, deepest first. */
function selfAndParentsOf(path: string): string[] {
  return [path, ...parentsOf(path).reverse()];
}
