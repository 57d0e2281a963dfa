/** Whether a process still runs; a reused process id is told apart by the process's start time. */
import { readFileSync } from "node:fs";
import { codeOf } from "./errors.ts";

/** An opaque value that differs between two processes with the same id, where the system offers one. */
export function processStart(pid: number): string | undefined {
  return fieldsOf(pid)?.[19];
}

/** What Linux says of a process from its state (field 3) on; start time is field 22. */
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
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  const fields = fieldsOf(pid);
  // It has ended, but its parent has not asked how; in a container that may never happen.
  if (fields?.[0] === "Z" || fields?.[0] === "X") return false;
  return start === undefined || fields === undefined || fields[19] === start;
}
