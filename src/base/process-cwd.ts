/** Which process works in a directory, as far as the system tells: Linux does, of one's own processes. */
import { readdirSync, readlinkSync } from "node:fs";
import { isInside } from "./paths.ts";

/** One that works in this directory or below it. */
export function processIn(directory: string): number | undefined {
  for (const name of processes()) {
    try {
      if (isInside(directory, readlinkSync(`/proc/${name}/cwd`))) return Number(name);
    } catch {
      // It has ended, or is another user's.
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
