/**
 * What Copilot's hook payloads mean, beyond what its profile says. Not asked for, since nothing follows from them that
 * another event doesn't tell: userPromptTransformed, permissionRequest, notification, postToolUseFailure, postResult.
 */
import { existsSync } from "node:fs";
import { commonEvent, metadataOf } from "../common.ts";
import type { AgentContext, Event, HookEnvelope, SubagentRef } from "../event.ts";
import { sameName, textAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { sessionOf, transcriptOf } from "./places.ts";

/** Other errors are a tool's or the user's own, and the turn goes on. */
const ENDS_TURN = "model_call";

export function copilotEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const common = commonEvent(profile, envelope, context);
  if (common === null) return null;
  const event = { ...common, timestamp: timeOf(envelope) ?? common.timestamp };
  if (event.subagent !== null) return inSubagent(event, event.subagent, envelope);
  const located = { ...event, transcriptPath: event.transcriptPath ?? transcriptOf(event.sessionId) };
  switch (event.type) {
    case "SessionStart":
      return { ...located, metadata: metadataOf(envelope, { source: "$.source" }) };
    case "SessionEnd":
      return { ...located, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...located, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnEnd":
      return sameName(envelope.event, "errorOccurred") ? failed(located, envelope) : located;
    case "ToolStart":
      return { ...located, subagent: announced(located, envelope) };
    case "SubagentStart":
    case "SubagentEnd":
      // It doesn't say whose.
      return null;
    default:
      return located;
  }
}

/** An error of the model's ends the turn, and no other event comes. */
function failed(event: Event, envelope: HookEnvelope): Event | null {
  const where = textAt(envelope.raw, ["$.errorContext"]);
  const message = textAt(envelope.raw, ["$.error.message"]) ?? "error";
  return where === ENDS_TURN ? { ...event, metadata: { error: message.slice(0, 200) } } : null;
}

/**
 * Hooks inside a subagent carry its own id for a session's. What it says to its model are no turns of the session; all
 * that it writes goes to the session's transcript.
 */
function inSubagent(event: Event, subagent: SubagentRef, envelope: HookEnvelope): Event | null {
  if (!["SubagentStart", "SubagentEnd", "ToolStart", "ToolEnd"].includes(event.type)) return null;
  const own = event.sessionId === subagent.id;
  const parent = textAt(envelope.raw, ["$.parentAgentId"]);
  const named = own ? parent : event.sessionId;
  const path = event.transcriptPath ?? (named === null ? null : transcriptOf(named));
  const sessionId = event.transcriptPath === null ? named : (sessionOf(event.transcriptPath) ?? named);
  if (sessionId === null || sessionId === subagent.id) return null;
  // A subagent of a subagent names that one: nobody's session.
  if (own && event.transcriptPath === null && (path === null || !existsSync(path))) return null;
  return { ...event, sessionId, transcriptPath: path };
}

/** What a new subagent is to do is said only here. */
function announced(event: Event, envelope: HookEnvelope): SubagentRef | null {
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

/** Milliseconds, in the shape of hooks that is Copilot's own. */
function timeOf(envelope: HookEnvelope): string | null {
  const given = envelope.raw["timestamp"];
  const date = new Date(typeof given === "number" ? given : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
