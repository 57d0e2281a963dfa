/** Paths of Copilot's sessions: one directory per session, named after the session id. */

import { basename, dirname, join } from "node:path";
import { homeDirectory } from "../../../base/paths.ts";

export const TRANSCRIPT = "events.jsonl";
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Most hooks name only the session, not the transcript. */
export function transcriptOf(sessionId: string): string | null {
  if (!UUID.test(sessionId)) return null;
  const home = process.env["COPILOT_HOME"] || join(homeDirectory(), ".copilot");
  return join(home, "session-state", sessionId, TRANSCRIPT);
}

export function sessionOf(transcriptPath: string): string | null {
  const name = basename(dirname(transcriptPath));
  return basename(transcriptPath) === TRANSCRIPT && UUID.test(name) ? name : null;
}
