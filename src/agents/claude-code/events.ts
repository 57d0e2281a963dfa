/** What Claude Code's hook payloads mean, beyond what its profile says. */
import { existsSync } from "node:fs";
import { commonEvent, metadataOf } from "../common.ts";
import type { AgentContext, Event, HookEnvelope, SubagentRef } from "../event.ts";
import type { Profile } from "../profile.ts";
import { promptText } from "./prompts.ts";
import { describeSubagent, subagentTranscript } from "./subagents.ts";

export function claudeEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  switch (event.type) {
    case "SessionStart":
      return { ...event, metadata: metadataOf(envelope, { source: "$.source" }) };
    case "SessionEnd":
      return { ...event, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...event, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnStart":
      return {
        ...event,
        prompt: promptText(event.prompt ?? ""),
        metadata: metadataOf(envelope, { prompt_id: "$.prompt_id" }),
      };
    case "TurnEnd":
      return { ...event, metadata: metadataOf(envelope, { prompt_id: "$.prompt_id", error: "$.error" }) };
    case "SubagentStart":
    case "SubagentEnd":
      return subagentEvent(event, envelope);
    default:
      return { ...event, subagent: located(event.subagent, event.transcriptPath) };
  }
}

/** Hooks inside a subagent name it, but not where its transcript is. */
function located(subagent: SubagentRef | null, sessionTranscript: string | null): SubagentRef | null {
  if (subagent === null || subagent.transcriptPath !== null) return subagent;
  return { ...subagent, transcriptPath: subagentTranscript(sessionTranscript, subagent.id) };
}

/**
 * `/compact` runs a subagent of its own and says so with an empty type and a transcript that never exists:
 * nobody asked for that one.
 */
function subagentEvent(event: Event, envelope: HookEnvelope): Event | null {
  const subagent = located(event.subagent, event.transcriptPath);
  if (subagent === null) return null;
  const path = subagent.transcriptPath;
  if (subagent.type === null && (path === null || !existsSync(path))) return null;
  return {
    ...event,
    // Its files are not written yet when it starts.
    subagent: event.type === "SubagentEnd" ? describeSubagent(subagent) : subagent,
    metadata: metadataOf(envelope, { prompt_id: "$.prompt_id" }),
  };
}
