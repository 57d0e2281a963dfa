/**
 * Maps Copilot's hook payloads to events where the profile is not enough. We install no hooks for
 * userPromptTransformed, permissionRequest, notification, postToolUseFailure and postResult, because other events
 * report the same facts.
 */
import { existsSync } from "node:fs";
import type { AgentContext, Event, HookEnvelope, SubagentRef } from "../../../model/event.ts";
import type { Profile } from "../../contract/profile.ts";
import { sameName, textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";
import { sessionOf, transcriptOf } from "./paths.ts";

/** Other errors come from a tool or the user, and the turn continues. */
const MODEL_CALL = "model_call";

export function copilotEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const common = commonEvent(profile, envelope, context);
  if (common === null) return null;
  const event = { ...common, timestamp: timeOf(envelope) ?? common.timestamp };
  if (event.subagent !== null) return inSubagent(event, event.subagent, envelope);
  const withTranscript = { ...event, transcriptPath: event.transcriptPath ?? transcriptOf(event.sessionId) };
  switch (event.type) {
    case "SessionStart":
      return { ...withTranscript, metadata: metadataOf(envelope, { source: "$.source" }) };
    case "SessionEnd":
      return { ...withTranscript, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...withTranscript, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnEnd":
      return sameName(envelope.event, "errorOccurred") ? failureEvent(withTranscript, envelope) : withTranscript;
    case "ToolStart":
      return { ...withTranscript, subagent: announcedSubagent(withTranscript, envelope) };
    case "SubagentStart":
    case "SubagentEnd":
      // The event does not name the subagent.
      return null;
    default:
      return withTranscript;
  }
}

/** A model error ends the turn, and no other end event follows. */
function failureEvent(event: Event, envelope: HookEnvelope): Event | null {
  const where = textAt(envelope.raw, ["$.errorContext"]);
  const message = textAt(envelope.raw, ["$.error.message"]) ?? "error";
  return where === MODEL_CALL ? { ...event, metadata: { error: message.slice(0, 200) } } : null;
}

/**
 * Hooks inside a subagent carry the subagent's id as the session id. The subagent's turns are not turns of the session,
 * but all of its output goes to the session's transcript.
 */
function inSubagent(event: Event, subagent: SubagentRef, envelope: HookEnvelope): Event | null {
  if (!["SubagentStart", "SubagentEnd", "ToolStart", "ToolEnd"].includes(event.type)) return null;
  const own = event.sessionId === subagent.id;
  const parent = textAt(envelope.raw, ["$.parentAgentId"]);
  const named = own ? parent : event.sessionId;
  const path = event.transcriptPath ?? (named === null ? null : transcriptOf(named));
  const sessionId = event.transcriptPath === null ? named : (sessionOf(event.transcriptPath) ?? named);
  if (sessionId === null || sessionId === subagent.id) return null;
  // A nested subagent names its parent subagent, which is not a session.
  if (own && event.transcriptPath === null && (path === null || !existsSync(path))) return null;
  return { ...event, sessionId, transcriptPath: path };
}

/** Only this event reports a new subagent's task. */
function announcedSubagent(event: Event, envelope: HookEnvelope): SubagentRef | null {
  if (event.tool?.kind !== "task") return null;
  const input = envelope.toolInput;
  return {
    id: "",
    type: textAt(input, ["$.agent_type"]),
    description: textAt(input, ["$.description"]),
    prompt: textAt(input, ["$.prompt"]),
    transcriptPath: null,
    toolUseId: null,
  };
}

/** Copilot's own hook format has the time in milliseconds. */
function timeOf(envelope: HookEnvelope): string | null {
  const given = envelope.raw["timestamp"];
  const date = new Date(typeof given === "number" ? given : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
