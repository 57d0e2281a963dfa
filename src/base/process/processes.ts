/** Checks whether a process still runs (its start time detects a reused id), and signals process groups. */
import { readFileSync } from "node:fs";
import { codeOf } from "../errors.ts";

/** An opaque value that differs between two processes with the same id; undefined if the system has none. */
export function processStart(pid: number): string | undefined {
  return fieldsOf(pid)?.[19];
}

/** The fields of Linux's /proc/<pid>/stat from the state (field 3) on; the start time is field 22. */
function fieldsOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in parentheses and may hold spaces.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

export function isRunning(pid: number, start?: string): boolean {
  if (!exists(pid)) return false;
  const fields = fieldsOf(pid);
  // Either the system has no /proc, or the process has gone since.
  if (fields === undefined) return exists(pid);
  // A zombie: its parent has not reaped it, and in a container may never do so.
  if (fields[0] === "Z" || fields[0] === "X") return false;
  return start === undefined || fields[19] === start;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

/** Signals every process in the group of `leader`; returns false if none is left. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
    return false;
  }
}
