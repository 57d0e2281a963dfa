/**
 * The rule for several turns at once. While one turn is at work, every change is its own. While several are, a file
 * belongs to those that report to have changed it; if none does, it may belong to each of them.
 */
import { sessionRefKey } from "../model/session.ts";
import { isAtWork, mayBeAtWork, type TurnWindow } from "./turn-windows.ts";

/**
 * The owners of a changed file among the running turns. `ifUnreported` overrides the default, "each of them",
 * for a file that no turn reports.
 */
export function owners<T>(
  atWork: readonly T[],
  reports: (one: T) => boolean,
  ifUnreported: readonly T[] = atWork,
): readonly T[] {
  if (atWork.length < 2) return atWork;
  const reporting = atWork.filter(reports);
  return reporting.length > 0 ? reporting : ifUnreported;
}

/** The turns that own the change of a file between step `at` and the next one, by their windows. */
export function turnsBehind(windows: readonly TurnWindow[], at: number, path: string): readonly TurnWindow[] {
  const atWork = new Map<string, TurnWindow>();
  const reporting = new Set<string>();
  for (const window of windows) {
    if (!mayBeAtWork(window, at)) continue;
    const session = sessionRefKey(window.turn);
    const reports = window.files.has(path);
    if (reports) reporting.add(session);
    // A turn without a recorded beginning or end owns only the files that it reports.
    if (!isAtWork(window, at) && !reports) continue;
    // A subagent that outlives its turn represents the turn.
    const known = atWork.get(session);
    if (!known || (known.subagent !== null && window.subagent === null)) atWork.set(session, window);
  }
  return owners([...atWork.values()], ({ turn }) => reporting.has(sessionRefKey(turn)));
}

/** The subagents of a session that report to have changed one of the files between step `at` and the next one. */
export function subagentsBehind(
  windows: readonly TurnWindow[],
  at: number,
  session: string,
  paths: readonly string[],
): TurnWindow[] {
  return windows.filter(
    (window) =>
      window.subagent !== null &&
      sessionRefKey(window.turn) === session &&
      mayBeAtWork(window, at) &&
      paths.some((path) => window.files.has(path)),
  );
}
