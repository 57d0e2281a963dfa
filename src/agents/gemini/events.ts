/**
 * What Gemini CLI's hook payloads mean, beyond what its profile says. Knowingly ignored: BeforeModel, AfterModel,
 * BeforeToolSelection (inside a turn, nothing changes) and Notification (a question to the user).
 */
import { commonEvent, metadataOf } from "../common.ts";
import type { AgentContext, Event, HookEnvelope } from "../event.ts";
import { textAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { promptText } from "./prompts.ts";
import { callId, transcriptOfCall } from "./subagents.ts";

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
      // "auto" is told before every call to the model, long before anybody knows whether it is too long.
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

/** A resumed session first names a transcript that it will not write to; with the first prompt it names its own. */
function sessionStart(event: Event, envelope: HookEnvelope): Event {
  const metadata = metadataOf(envelope, { source: "$.source" });
  return { ...event, metadata, transcriptPath: metadata["source"] === "resume" ? null : event.transcriptPath };
}

/** The payload's answer is its pieces as they came, with gaps between them: the transcript has it as it was given. */
function turnEnd(event: Event): Event {
  const isUsable = event.transcriptPath === null && event.response !== NO_RESPONSE;
  return isUsable ? event : { ...event, response: null };
}

/** Subagents have no events of their own: they begin and end with the tool that calls them. */
function subagentEvent(event: Event, envelope: HookEnvelope): Event {
  if (event.subagent === null) return event;
  const subagent = { ...event.subagent, id: callId(event.subagent) };
  if (event.type === "ToolStart") return { ...event, type: "SubagentStart", tool: null, subagent };
  const transcriptPath = transcriptOfCall(envelope.raw, event.transcriptPath, event.sessionId);
  return { ...event, type: "SubagentEnd", tool: null, subagent: { ...subagent, transcriptPath } };
}
