/** Finds processes by working directory. Works on Linux only, and only for the user's own processes. */
import { readdirSync, readlinkSync } from "node:fs";
import { isInside } from "../paths.ts";

/** The id of a process with a working directory in or below `directory`. */
export function processIn(directory: string): number | undefined {
  for (const name of processes()) {
    try {
      if (isInside(directory, readlinkSync(`/proc/${name}/cwd`))) return Number(name);
    } catch {
      // The process has ended or belongs to another user.
    }
  }
  return undefined;
}

function processes(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
