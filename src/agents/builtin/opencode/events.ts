/**
 * Maps the reports of our OpenCode plugin to events where the profile is not enough. The plugin does not report other
 * events: messages and their parts are in the transcript, `session.updated` only accompanies reported events, and the
 * end of the turn includes `session.error`.
 */

import type { AgentContext, Event, HookEnvelope } from "../../../model/event.ts";
import type { Profile } from "../../contract/profile.ts";
import { textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";

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
