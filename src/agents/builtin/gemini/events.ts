/**
 * Maps Gemini CLI's hook payloads to events where the profile is not enough. Deliberately ignores BeforeModel,
 * AfterModel and BeforeToolSelection (nothing changes inside a turn), and Notification (a question to the user).
 */

import { hexDigest } from "../../../base/digest.ts";
import type { AgentContext, Event, HookEnvelope, SubagentRef } from "../../../model/event.ts";
import type { Profile } from "../../contract/profile.ts";
import { firstAt, textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";
import { subagentTranscript } from "./paths.ts";
import { promptText } from "./transcript.ts";

const NO_RESPONSE = "[no response text]";

export function geminiEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  switch (event.type) {
    case "SessionStart":
      return sessionStart(event, envelope);
    case "SessionEnd":
      return { ...event, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      // Gemini CLI reports "auto" before every model call, whether or not it will compress anything.
      return textAt(envelope.raw, ["$.trigger"]) === "manual"
        ? { ...event, metadata: metadataOf(envelope, { trigger: "$.trigger" }) }
        : null;
    case "TurnStart":
      return { ...event, prompt: promptText(event.prompt ?? "") };
    case "TurnEnd":
      return turnEnd(event);
    case "ToolStart":
    case "ToolEnd":
      return event.tool?.kind === "task" ? subagentEvent(event, envelope) : { ...event, subagent: null };
    default:
      return event;
  }
}

/** A resumed session first names a transcript that it will not write to; the first prompt names the real one. */
function sessionStart(event: Event, envelope: HookEnvelope): Event {
  const metadata = metadataOf(envelope, { source: "$.source" });
  return { ...event, metadata, transcriptPath: metadata["source"] === "resume" ? null : event.transcriptPath };
}

/** The payload joins the answer's pieces with gaps between them; the transcript contains the exact answer. */
function turnEnd(event: Event): Event {
  const isUsable = event.transcriptPath === null && event.response !== NO_RESPONSE;
  return isUsable ? event : { ...event, response: null };
}

/** Subagents have no separate events: they start and end with the tool that calls them. */
function subagentEvent(event: Event, envelope: HookEnvelope): Event {
  if (event.subagent === null) return event;
  const subagent = { ...event.subagent, id: callId(event.subagent) };
  if (event.type === "ToolStart") return { ...event, type: "SubagentStart", tool: null, subagent };
  const transcriptPath = transcriptOfCall(envelope.raw, event.transcriptPath, event.sessionId);
  return { ...event, type: "SubagentEnd", tool: null, subagent: { ...subagent, transcriptPath } };
}

/** Hooks report no call id. This id is the same for a call's start and end, because both have the same input. */
function callId({ type, prompt }: SubagentRef): string {
  return hexDigest("sha1", `${type ?? ""}\0${prompt ?? ""}`).slice(0, 16);
}

/** The transcript of a finished call's subagent, found through its activity list; null if that names no id. */
function transcriptOfCall(payload: unknown, sessionTranscript: string | null, sessionId: string): string | null {
  const done = firstAt(payload, ["$.tool_response.returnDisplay.recentActivity"]);
  if (sessionTranscript === null || !Array.isArray(done)) return null;
  for (const action of done) {
    const id = /^([A-Za-z0-9-]{1,64})#\d/.exec(textAt(action, ["$.id"]) ?? "")?.[1];
    if (id !== undefined) return subagentTranscript(sessionTranscript, sessionId, id);
  }
  return null;
}
