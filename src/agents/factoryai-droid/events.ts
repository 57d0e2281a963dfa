/**
 * What Droid's hook payloads mean, beyond what its profile says. SubagentStop isn't asked for: it names no subagent,
 * and what one did is told by the tool that started it.
 */
import { commonEvent, metadataOf } from "../common.ts";
import type { AgentContext, Event, HookEnvelope } from "../event.ts";
import { sameName, textAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { pathsInPatch } from "./files.ts";
import { parentSession } from "./places.ts";
import { tokensSoFar } from "./usage.ts";

const STOPPED_BY_USER = "Agent stopped by user";

export function droidEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  switch (event.type) {
    case "SessionStart":
      return counted(started(event, envelope));
    case "SessionEnd":
      return { ...event, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...event, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnStart":
      return counted({ ...event, metadata: metadataOf(envelope, { prompt_id: "$.message_id" }) });
    case "TurnEnd":
      return sameName(envelope.event, "Notification") ? interrupted(event, envelope) : counted(event);
    default:
      return withTool(event, envelope);
  }
}

/** `droid exec` announces no prompt: what is there when the session starts is what its turn begins with. */
function started(event: Event, envelope: HookEnvelope): Event {
  const path = event.transcriptPath;
  return {
    ...event,
    previousSessionId: path === null ? null : parentSession(path),
    baseline: true,
    metadata: metadataOf(envelope, { source: "$.source" }),
  };
}

/** A turn that the user breaks off while the model speaks ends with nothing but a notification. */
function interrupted(event: Event, envelope: HookEnvelope): Event | null {
  const message = textAt(envelope.raw, ["$.message"]);
  return message?.startsWith(STOPPED_BY_USER) ? counted({ ...event, metadata: { error: "interrupted" } }) : null;
}

function counted(event: Event): Event {
  const tokens = tokensSoFar(event.transcriptPath);
  return tokens === undefined ? event : { ...event, tokensSoFar: tokens };
}

/** Files are named nowhere but in the patch itself. */
function withTool(event: Event, envelope: HookEnvelope): Event {
  const { tool } = event;
  if (tool?.name !== "ApplyPatch") return event;
  return { ...event, tool: { ...tool, paths: pathsInPatch(envelope.toolInput) } };
}
