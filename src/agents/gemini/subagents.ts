/**
 * Subagents of Gemini CLI. A hook tells which one was called and with which prompt, but gives the call no id. Its own id
 * shows when it is done, in the list of what it did; its transcript is `<session>/<id>.jsonl` beside the session's.
 */
import { hexDigest } from "../../base/digest.ts";
import type { SubagentRef } from "../event.ts";
import { firstAt, textAt } from "../paths.ts";
import { subagentTranscript } from "./places.ts";

/** The same for the start and the end of one call, since both have the same input. */
export function callId({ type, prompt }: SubagentRef): string {
  return hexDigest("sha1", `${type ?? ""}\0${prompt ?? ""}`).slice(0, 16);
}

/** Where the subagent of a finished call wrote its transcript; null where it did nothing that tells. */
export function transcriptOfCall(payload: unknown, sessionTranscript: string | null, sessionId: string): string | null {
  const done = firstAt(payload, ["$.tool_response.returnDisplay.recentActivity"]);
  if (sessionTranscript === null || !Array.isArray(done)) return null;
  for (const action of done) {
    const id = /^([A-Za-z0-9-]{1,64})#\d/.exec(textAt(action, ["$.id"]) ?? "")?.[1];
    if (id !== undefined) return subagentTranscript(sessionTranscript, sessionId, id);
  }
  return null;
}
