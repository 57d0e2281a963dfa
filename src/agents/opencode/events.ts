/**
 * What our plugin for OpenCode tells, beyond what the profile says. Of OpenCode's other events the plugin tells nothing:
 * messages and their parts are read from the conversation, `session.status` and `session.updated` only accompany the
 * events that are told, and `session.error` is told with the end of its turn.
 */
import { commonEvent, metadataOf } from "../common.ts";
import type { AgentContext, Event, HookEnvelope } from "../event.ts";
import { textAt } from "../paths.ts";
import type { Profile } from "../profile.ts";

export function openCodeEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  switch (event.type) {
    case "SessionStart":
      return { ...event, metadata: metadataOf(envelope, { source: "$.source" }) };
    case "TurnStart":
      return {
        ...event,
        prompt: event.prompt?.trim() || null,
        metadata: metadataOf(envelope, { prompt_id: "$.messageID" }),
      };
    case "TurnEnd":
      return { ...event, metadata: metadataOf(envelope, { error: "$.error" }) };
    case "SubagentStart":
    case "SubagentEnd":
      return subagentEvent(event, envelope);
    default:
      return event;
  }
}

function subagentEvent(event: Event, envelope: HookEnvelope): Event | null {
  if (event.subagent === null) return null;
  return { ...event, subagent: { ...event.subagent, toolUseId: textAt(envelope.raw, ["$.subagent.callID"]) } };
}
