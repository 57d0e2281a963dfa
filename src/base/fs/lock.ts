/**
 * Locks between processes: an exclusively created file that names its owner. A lock of a process that no longer runs is
 * taken over, so a kill never leaves a permanent lock.
 */
import { closeSync, linkSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../errors.ts";
import { isRunning, processStart } from "../process/processes.ts";
import { makeDirectory, removeFile } from "./files.ts";

const POLL_MS = 3;
/** On file systems without hard links, an older lock file without a name was left by a killed process. */
const NAMELESS_MS = 2_000;
/** Errors of file systems without hard links. */
const WITHOUT_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EACCES"]);

export interface Lock {
  release(): void;
}

/** Waits at most `waitMs`; returns undefined if another process still holds the lock. */
export async function acquire(path: string, waitMs: number): Promise<Lock | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const lock = tryAcquire(path);
    if (lock) return lock;
    if (performance.now() >= deadline) return undefined;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function tryAcquire(path: string): Lock | undefined {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      return create(path);
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOENT") makeDirectory(dirname(path));
      else if (code === "EEXIST") {
        const holder = holderOf(path);
        if (holder === "running" || (holder === "dead" && !takeAway(path))) return undefined;
      } else throw error;
    }
  }
  return undefined;
}

/** Whether a running process holds the lock. Changes nothing. */
export function isHeld(path: string): boolean {
  return holderOf(path) === "running";
}

/** Whether the lock exists but its owner no longer runs. Changes nothing. */
export function isAbandoned(path: string): boolean {
  return holderOf(path) === "dead";
}

/** Creates the lock together with its owner's name, so that a kill in between blocks no other process. */
function create(path: string): Lock {
  const named = `${path}.${process.pid}.tmp`;
  removeFile(named);
  writeName(named);
  try {
    linkSync(named, path);
  } catch (error) {
    if (!WITHOUT_LINKS.has(codeOf(error) ?? "")) throw error;
    writeName(path);
  } finally {
    removeFile(named);
  }
  return { release: () => removeFile(path) };
}

function writeName(path: string): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeSync(fd, `${process.pid} ${processStart(process.pid) ?? "-"}\n`);
  } catch (error) {
    removeFile(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Separates "none" from "dead": another process may take a just-released lock before we would remove it. */
function holderOf(path: string): "running" | "dead" | "none" {
  try {
    const [pid, start] = readFileSync(path, "utf8").trim().split(" ");
    if (!pid || !/^\d+$/.test(pid)) return ageOf(path) > NAMELESS_MS ? "dead" : "running";
    return isRunning(Number(pid), start === "-" ? undefined : start) ? "running" : "dead";
  } catch (error) {
    return codeOf(error) === "ENOENT" ? "none" : "running";
  }
}

/**
 * Removes an abandoned lock. Only one of two processes may remove it, or the slower would remove the lock that the
 * faster has just created. So a guard file protects the removal, and the check repeats under the guard.
 */
function takeAway(path: string): boolean {
  const guard = `${path}.takeover`;
  try {
    closeSync(openSync(guard, "wx", 0o600));
  } catch (error) {
    if (codeOf(error) === "EEXIST" && ageOf(guard) > NAMELESS_MS) removeFile(guard);
    return false;
  }
  try {
    if (holderOf(path) === "dead") removeFile(path);
    return true;
  } finally {
    removeFile(guard);
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
