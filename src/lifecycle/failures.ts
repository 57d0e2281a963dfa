/** What hooks wrote into the log while nobody was looking, gathered so that a person can read it. */

import { now } from "../base/clock.ts";
import { readText } from "../base/files.ts";
import { type LogEntry, logFile } from "../base/log.ts";
import { stateDirectory } from "../base/paths.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";

export interface Failure {
  where: string;
  message: string;
  count: number;
  /** ISO time, to the second. */
  last: string;
}

const DAYS = 7;
const LONGEST = 200;

/** The newest first, the same message counted once. */
export function failuresOf(workspace: Workspace): Failure[] {
  const since = new Date(now().getTime() - DAYS * 24 * 60 * 60 * 1000).toISOString();
  const failures = new Map<string, Failure>();
  for (const directory of [stateDirectory(), workspace.storeDir]) {
    for (const line of (readText(logFile(directory)) ?? "").split("\n")) {
      const entry = parse(line);
      if (!entry || entry.time < since || (entry.level !== "error" && entry.level !== "warn")) continue;
      const where = oneLine(entry.where);
      const message = shorten(oneLine(entry.message), LONGEST);
      const known = failures.get(`${where}\0${message}`);
      const last = entry.time > (known?.last ?? "") ? entry.time : (known?.last ?? entry.time);
      failures.set(`${where}\0${message}`, { where, message, count: (known?.count ?? 0) + 1, last });
    }
  }
  return [...failures.values()].sort((a, b) => (a.last < b.last ? 1 : -1));
}

function parse(line: string): LogEntry | undefined {
  try {
    const entry = JSON.parse(line) as LogEntry;
    const isEntry =
      entry.v === 1 && [entry.time, entry.level, entry.where, entry.message].every((text) => typeof text === "string");
    return isEntry ? entry : undefined;
  } catch {
    return undefined;
  }
}
