/** Inspects a process's ancestors, to distinguish an agent's commit from a user's commit. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { spawnSync } from "../base/runtime.ts";

const MAX_DEPTH = 32;

/** The process and its ancestors; only the process itself if the system does not report parents. */
export function ancestorsOf(pid: number): Set<number> {
  const found = new Set<number>();
  let next = pid;
  while (Number.isSafeInteger(next) && next > 1 && !found.has(next) && found.size < MAX_DEPTH) {
    found.add(next);
    next = parentOf(next);
  }
  return found;
}

/** The git process that runs a hook, possibly through a hook manager; `pid` itself if none is found. */
export function gitAbove(pid: number): number {
  for (const ancestor of ancestorsOf(pid)) {
    if (/^git(?:\.exe)?$/.test(basename(argumentsOf(ancestor)[0] ?? ""))) return ancestor;
  }
  return pid;
}

/** The command line of a process; empty if the system does not report it. */
export function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  } catch {
    return said(["-ww", "-o", "args=", "-p", String(pid)]).split(/\s+/);
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return Number(said(["-o", "ppid=", "-p", String(pid)]).trim() || 0);
  }
}

/** Runs `ps`, for systems without /proc. */
function said(args: string[]): string {
  if (process.platform === "linux" || process.platform === "win32") return "";
  try {
    return spawnSync("/bin/ps", args).stdout.toString();
  } catch {
    return "";
  }
}
