/** Where Copilot keeps its sessions: a directory each, named by the session's id. */
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

export const TRANSCRIPT = "events.jsonl";
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Most hooks name the session alone. */
export function transcriptOf(sessionId: string): string | null {
  if (!UUID.test(sessionId)) return null;
  const home = process.env["COPILOT_HOME"] || join(process.env["HOME"] || homedir(), ".copilot");
  return join(home, "session-state", sessionId, TRANSCRIPT);
}

export function sessionOf(transcriptPath: string): string | null {
  const name = basename(dirname(transcriptPath));
  return basename(transcriptPath) === TRANSCRIPT && UUID.test(name) ? name : null;
}
