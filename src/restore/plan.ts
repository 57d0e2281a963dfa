/**
 * What would have to happen to files, decided without touching any: two trees, what is known not to be in them,
 * and a look at what stands in the way. What is not ours to touch is left out and said.
 */
import { shownPath } from "../base/text.ts";
import type { TreeDifference } from "../git/tree-diff.ts";
import { EXECUTABLE_MODE, FILE_MODE, GITLINK_MODE, type TreeEntry } from "../git/trees.ts";
import type { NotCaptured } from "../steps/model.ts";
import type { Conflict, FilePlan, NotUndone } from "./model.ts";

export type Standing = "nothing" | "file" | "symlink" | "directory" | "other";

/** What lies in the work tree now, below its root. */
export interface Ground {
  at(path: string): Standing;
  /** Every path below a directory that is no directory itself; undefined where it can't be listed. */
  below(path: string): string[] | undefined;
}

export interface PlanInput {
  /** From the present to the target. */
  differences: readonly TreeDifference[];
  /** Exact bytes that git's filters don't give back, by path: now, and at the target. */
  presentRaw: ReadonlyMap<string, string>;
  targetRaw: ReadonlyMap<string, string>;
  /** Entries of the target whose content is the same for git, but not byte for byte. */
  rawOnly: ReadonlyMap<string, TreeEntry>;
  missedNow: readonly NotCaptured[];
  missedThen: readonly NotCaptured[];
  protectedDirectories: readonly string[];
  /** Paths whose index entries tell git not to look at the file. */
  unwatched: ReadonlySet<string>;
  /** Files that the target's own rules ignore; none unless given. */
  ignoredThen?: ReadonlySet<string>;
  isChosen: (path: string) => boolean;
  ground: Ground;
}

export interface Planned {
  files: FilePlan;
  notUndone: NotUndone[];
  conflicts: Conflict[];
}

export function planFiles(input: PlanInput): Planned {
  const left = new LeftAlone(input);
  const files: FilePlan = { write: [], delete: [], chmod: [] };
  const writes: { path: string; entry: TreeEntry; before: TreeEntry | null }[] = [];
  for (const { path, before, after } of input.differences) {
    if (!input.isChosen(path) || left.leaves(path, before, after)) continue;
    if (after === null) files.delete.push(path);
    else if (isChmod(before, after) && sameBytes(input, path)) files.chmod.push({ path, mode: after.mode });
    else writes.push({ path, entry: after, before });
  }
  for (const [path, entry] of input.rawOnly) {
    if (input.isChosen(path) && !left.leaves(path, entry, entry)) writes.push({ path, entry, before: entry });
  }
  const conflicts: Conflict[] = [];
  const removed = new Set(files.delete);
  const folded = new Set(files.delete.map(fold));
  for (const { path, entry, before } of writes) {
    const obstacle = obstacleAbove(input.ground, path, removed);
    if (obstacle) conflicts.push({ path, why: obstacle });
    else if (before === null && !folded.has(fold(path)) && !isFree(input.ground, path, removed)) left.inTheWay(path);
    else files.write.push({ path, entry, raw: input.targetRaw.get(path) ?? null });
  }
  return { files, notUndone: left.told(), conflicts };
}

/** The name under which a file system that ignores case and composition knows a path. */
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

/** Nothing is ever written through a link, nor a file removed that nobody planned to remove. */
function obstacleAbove(ground: Ground, path: string, removed: ReadonlySet<string>): string | undefined {
  for (const parent of parentsOf(path)) {
    const standing = ground.at(parent);
    if (standing === "nothing") return undefined;
    if (standing === "directory") continue;
    if (removed.has(parent)) return undefined;
    const what = standing === "symlink" ? "a symbolic link" : standing === "file" ? "a file" : "a special file";
    return `${shownPath(parent)} is ${what} that is not recorded`;
  }
  return undefined;
}

/** Whether everything that stands at `path` goes with the plan. */
function isFree(ground: Ground, path: string, removed: ReadonlySet<string>): boolean {
  // Behind a link that goes, something of somebody else's may seem to stand there.
  if (parentsOf(path).some((parent) => removed.has(parent))) return true;
  const standing = ground.at(path);
  if (standing === "nothing") return true;
  if (standing !== "directory") return false;
  return ground.below(path)?.every((inner) => removed.has(inner)) ?? false;
}

export const WHY_MISSED: Record<NotCaptured["why"], string> = {
  "too-large": "it is larger than the limit for untracked files, so it is not recorded",
  "nested-repository": "a repository inside this one is not recorded",
  submodule: "submodules are left as they are",
  unreadable: "it could not be read, so it is not recorded",
  "special-file": "it is neither a file nor a link",
};
const WHY_IGNORED_THEN = "git ignored it then, so no step knows whether it was there";
const SHOWN_PATHS = 20;

/** Collects the paths that a restore does not touch, and why. */
class LeftAlone {
  readonly #missed = new Map<string, string>();
  readonly #protected: ReadonlySet<string>;
  readonly #unwatched: ReadonlySet<string>;
  readonly #ignoredThen: ReadonlySet<string> | undefined;
  readonly #told = new Map<string, string[]>();

  constructor(input: PlanInput) {
    this.#protected = new Set(input.protectedDirectories);
    this.#unwatched = input.unwatched;
    this.#ignoredThen = input.ignoredThen;
    for (const { path, why } of input.missedThen)
      this.#missed.set(path, why === "too-large" ? "it was too large to be recorded then" : WHY_MISSED[why]);
    for (const { path, why } of input.missedNow) this.#missed.set(path, WHY_MISSED[why]);
    for (const { path, before, after } of input.differences) {
      if (before?.mode === GITLINK_MODE || after?.mode === GITLINK_MODE) this.#missed.set(path, WHY_MISSED.submodule);
    }
  }

  leaves(path: string, before: TreeEntry | null, after: TreeEntry | null): boolean {
    const why = this.#reason(path, before, after);
    if (why !== undefined) this.#tell(path, why);
    return why !== undefined;
  }

  inTheWay(path: string): void {
    this.#tell(path, "something that is not recorded (ignored, or excluded) stands there");
  }

  told(): NotUndone[] {
    return [...this.#told].flatMap(([why, paths]) => {
      const shown = paths.slice(0, SHOWN_PATHS).map((path) => ({ what: shownPath(path), why }));
      const more = paths.length - shown.length;
      return more > 0 ? [...shown, { what: `${more} more`, why }] : shown;
    });
  }

  #reason(path: string, before: TreeEntry | null, after: TreeEntry | null): string | undefined {
    if (!isSafePath(path)) return "git itself would not write to that path";
    const guarded = selfAndParentsOf(path).find((directory) => this.#protected.has(directory));
    if (guarded !== undefined) return `${shownPath(guarded)} belongs to an agent and is never touched`;
    if (before?.mode === GITLINK_MODE || after?.mode === GITLINK_MODE) return WHY_MISSED.submodule;
    if (after === null && this.#ignoredThen?.has(path)) return WHY_IGNORED_THEN;
    if (this.#unwatched.has(path)) return "git is told not to look at it (sparse checkout, or assume-unchanged)";
    return selfAndParentsOf(path)
      .map((above) => this.#missed.get(above))
      .find((why) => why !== undefined);
  }

  #tell(path: string, why: string): void {
    const paths = this.#told.get(why);
    if (paths) paths.push(path);
    else this.#told.set(why, [path]);
  }
}

/** The directories above a path, from the top. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) parents.push(path.slice(0, at));
  return parents;
}

/** From the path itself upwards. */
function selfAndParentsOf(path: string): string[] {
  return [path, ...parentsOf(path).reverse()];
}

/** Stays below the root and out of git's own directory, on any file system. */
export function isSafePath(path: string): boolean {
  if (path === "" || path.startsWith("/")) return false;
  if (process.platform === "win32" && path.includes("\\")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !isGitDirectory(part));
}

/** Also by the names that Windows and macOS take for it: with characters that they don't see, dots or spaces behind it. */
function isGitDirectory(name: string): boolean {
  const seen = name.replace(UNSEEN, "").replace(/:.*$/s, "");
  return /^(?:\.git|git~1)[. ]*$/i.test(seen);
}

const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
