/**
 * Tells a headless run which session its hooks belong to, for agents that print no session id. The run is named by a
 * variable in the agent's environment; the first session that reports wins, because others are started by it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MAX_ID = 200;

export function tellRun(storeDir: string, run: string, sessionId: string): void {
  const file = fileOf(storeDir, run);
  if (file === null || sessionId.length > MAX_ID) return;
  try {
    mkdirSync(join(storeDir, "runs"), { recursive: true });
    writeFileSync(file, sessionId, { flag: "wx", mode: 0o600 });
  } catch {
    // Already told, or the run continues without knowing.
  }
}

/** Null until a hook has reported it. */
export function sessionOfRun(storeDir: string, run: string): string | null {
  const file = fileOf(storeDir, run);
  try {
    return file === null ? null : readFileSync(file, "utf8") || null;
  } catch {
    return null;
  }
}

export function forgetRun(storeDir: string, run: string): void {
  const file = fileOf(storeDir, run);
  if (file !== null) rmSync(file, { force: true });
}

function fileOf(storeDir: string, run: string): string | null {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(run) ? join(storeDir, "runs", run) : null;
}
