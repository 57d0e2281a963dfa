/** Collects the failures that hooks wrote to the log, for display. */

import { now } from "../../base/clock.ts";
import { readText } from "../../base/fs/files.ts";
import { type LogEntry, logFile } from "../../base/log.ts";
import { stateDirectory } from "../../base/paths.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";

export interface Failure {
  where: string;
  message: string;
  count: number;
  /** ISO time, to the second. */
  last: string;
}

const DAYS = 1;
const MAX_MESSAGE = 200;

/** Newest first; groups identical messages. */
export function failuresOf(workspace: Workspace): Failure[] {
  const failures = new Map<string, Failure>();
  for (const entry of [stateDirectory(), workspace.storeDir].flatMap((directory) => loggedIn(directory, DAYS))) {
    const where = oneLine(entry.where);
    const message = shorten(oneLine(entry.message), MAX_MESSAGE);
    const known = failures.get(`${where}\0${message}`);
    const last = entry.time > (known?.last ?? "") ? entry.time : (known?.last ?? entry.time);
    failures.set(`${where}\0${message}`, { where, message, count: (known?.count ?? 0) + 1, last });
  }
  return [...failures.values()].sort((a, b) => (a.last < b.last ? 1 : -1));
}

export type LoggedFailure = Pick<LogEntry, "time" | "level" | "where" | "message">;

/** Warnings and errors of the last days in one directory's log. */
export function loggedIn(directory: string, days: number): LoggedFailure[] {
  const since = new Date(now().getTime() - days * 24 * 60 * 60 * 1000).toISOString();
  return (readText(logFile(directory)) ?? "").split("\n").flatMap((line) => {
    const entry = parse(line);
    if (!entry || entry.time < since || (entry.level !== "error" && entry.level !== "warn")) return [];
    const { time, level, where, message } = entry;
    return [{ time, level, where, message }];
  });
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
