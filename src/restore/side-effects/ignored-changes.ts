/** Compares two lists of ignored files and reports what changed in between. */
import type { IgnoredEntry, IgnoredList } from "../../git/ignored/list.ts";

export interface IgnoredChange {
  /** Relative to the root, without a trailing slash. */
  path: string;
  isDirectory: boolean;
  change: "created" | "changed" | "removed" | "moved";
  /** The new path, if moved. */
  to?: string;
}

interface Span {
  before: IgnoredList;
  after: IgnoredList;
  /** The time of `before`, in milliseconds. */
  from: number;
  /** True if the path currently exists. */
  exists: (path: string) => boolean;
}

/** A file's timestamp may be slightly earlier than its creation. */
const CLOCK_GRAIN_MS = 1_000;

export function ignoredChanges({ before, after, from, exists }: Span): IgnoredChange[] {
  const removed: [string, IgnoredEntry][] = [];
  const changed: string[] = [];
  for (const [path, was] of before.entries) {
    if (!was) continue;
    const is = after.entries.get(path);
    if (is) {
      if (is.modified !== was.modified || is.size !== was.size) changed.push(path);
    } else if (is === null || (!after.cut && !exists(plain(path)))) removed.push([path, was]);
  }
  // A file may have existed before the list first named it: only its own time shows that it is new.
  const created = [...after.entries].flatMap(([path, is]) =>
    is && !before.entries.get(path) && !before.cut && is.changed >= from - CLOCK_GRAIN_MS ? [[path, is] as const] : [],
  );
  const moves = new Map<string, string>();
  for (const [path, was] of removed) {
    const to = created.find(([other, is]) => isMoved(path, was, other, is) && ![...moves.values()].includes(other));
    if (to) moves.set(path, to[0]);
  }
  const arrived = new Set(moves.values());
  return withoutContents([
    ...removed.map(([path]) => {
      const to = moves.get(path);
      return to === undefined ? changeOf(path, "removed") : { ...changeOf(path, "moved"), to: plain(to) };
    }),
    ...changed.map((path) => changeOf(path, "changed")),
    ...created.filter(([path]) => !arrived.has(path)).map(([path]) => changeOf(path, "created")),
  ]);
}

/** A move keeps a file's time and size; for a directory, only the time is known. */
function isMoved(path: string, was: IgnoredEntry, other: string, is: IgnoredEntry): boolean {
  return path.endsWith("/") === other.endsWith("/") && was.modified === is.modified && was.size === is.size;
}

/**
 * Reports a created or removed directory without its contents, and omits a changed directory if its files are listed.
 */
function withoutContents(changes: readonly IgnoredChange[]): IgnoredChange[] {
  const whole = changes.filter(({ isDirectory, change }) => isDirectory && change !== "changed");
  return changes.filter((one) => {
    if (whole.some(({ path, change }) => isBelow(one.path, path) && one.change === change)) return false;
    return !(one.isDirectory && one.change === "changed" && changes.some(({ path }) => isBelow(path, one.path)));
  });
}

export function isBelow(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}

function changeOf(path: string, change: IgnoredChange["change"]): IgnoredChange {
  return { path: plain(path), isDirectory: path.endsWith("/"), change };
}

function plain(path: string): string {
  return path.replace(/\/$/, "");
}
