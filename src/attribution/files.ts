/** Attributes changed files to turns: those of a turn that ends, of a commit, and of a turn that is undone. */
import type { FileChanges } from "../model/changes.ts";
import { owners } from "./owners.ts";
import { mayBeAtWork, type TurnWindow } from "./turn-windows.ts";

/** The changes that belong to one turn. `own` and `others` are the files that each reports to have changed. */
export function ownFiles(
  changes: FileChanges,
  own: ReadonlySet<string>,
  others: readonly ReadonlySet<string>[],
): FileChanges {
  const keep = (path: string) => owners([own, ...others], (files) => files.has(path)).includes(own);
  return {
    added: changes.added.filter(keep),
    modified: changes.modified.filter(keep),
    deleted: changes.deleted.filter(keep),
  };
}

/** A running turn: the files that changed since it began, and the files that it reports. */
export interface RunningChanges {
  changed: readonly string[];
  reported: ReadonlySet<string>;
}

/** The files of each running turn. `committing`: turns that own the files that no turn reports. */
export function filesOfRunning<T extends RunningChanges>(
  running: readonly T[],
  committing: readonly T[],
): Map<T, string[]> {
  const unreported = committing.length > 0 ? committing : running;
  const isOwn = (turn: T) => (path: string) =>
    owners(running, ({ reported }) => reported.has(path), unreported).includes(turn);
  return new Map(running.map((turn) => [turn, turn.changed.filter(isOwn(turn))]));
}

/** Part of a turn's range of steps in which a file changed; null means that the turn owns the change. */
export interface Part {
  from: number;
  to: number;
  rival: TurnWindow | null;
}

/**
 * Splits a turn's range by the owners of a file that the turn reports. `concurrent` are the windows of separate work;
 * `changedAt` tells whether the file changed between a step and the next one. The range stays whole without them.
 */
export async function partsOf(
  { from, to }: { from: number; to: number },
  concurrent: readonly TurnWindow[],
  path: string,
  changedAt: (at: number) => Promise<boolean>,
): Promise<Part[]> {
  const reporting = concurrent.filter(({ files }) => files.has(path));
  if (reporting.length === 0) return [{ from, to, rival: null }];
  const parts: Part[] = [];
  for (let at = from; at < to; at++) {
    if (!(await changedAt(at))) continue;
    // The turn reports the file, so any other turn that does owns the change as well.
    const rival = reporting.find((window) => mayBeAtWork(window, at)) ?? null;
    const previous = parts.at(-1);
    if (previous && previous.rival === null && rival === null && previous.to === at) previous.to = at + 1;
    else parts.push({ from: at, to: at + 1, rival });
  }
  return parts;
}
