/**
 * What our extension for Pi tells, beyond what the profile says. Of Pi's other events it tells nothing: messages, runs
 * and model calls (`message_*`, `agent_start`, `turn_*`, `context`) are read from the session's file or accompany the
 * events; a move in the session's tree (`session_tree`) shows in the leaf that every event names.
 */
import { basename } from "node:path";
import type { AgentContext, Event, HookEnvelope } from "../../../model/event.ts";
import type { Profile } from "../../contract/profile.ts";
import { textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";

export function piEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  const leaf = metadataOf(envelope, { leaf: "$.leafId" });
  switch (event.type) {
    case "SessionStart":
      return {
        ...event,
        previousSessionId: parentOf(envelope),
        metadata: { ...leaf, ...metadataOf(envelope, { source: "$.reason" }) },
      };
    case "TurnStart":
      return { ...event, prompt: event.prompt?.trim() || null, metadata: leaf };
    case "TurnEnd":
      return { ...event, metadata: { ...leaf, ...errorOf(envelope) } };
    case "SubagentStart":
    case "SubagentEnd":
      if (event.subagent === null) return null;
      // A subagent is a tool use and has no other id.
      return { ...event, subagent: { ...event.subagent, toolUseId: event.subagent.id }, metadata: leaf };
    default:
      return { ...event, metadata: leaf };
  }
}

/** The file name of a session contains its time and its id. */
function parentOf(envelope: HookEnvelope): string | null {
  const name = basename(textAt(envelope.raw, ["$.parentSession"]) ?? "");
  return /^[^_]+_(.+)\.jsonl$/.exec(name)?.[1]?.slice(0, 200) ?? null;
}

function errorOf(envelope: HookEnvelope): Record<string, string> {
  const reason = textAt(envelope.raw, ["$.stopReason"]);
  return reason === "error" || reason === "aborted" ? { error: reason } : {};
}
