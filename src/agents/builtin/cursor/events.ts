/** Maps Cursor's hook payloads to events where the profile is not enough. */

import type { AgentContext, Event, HookEnvelope } from "../../../model/event.ts";
import type { Profile } from "../../contract/profile.ts";
import { textAt, valueAt } from "../../registry/paths.ts";
import { commonEvent } from "../../registry/profile-events.ts";
import { findTranscript } from "./paths.ts";
import { usersWords } from "./transcript.ts";

export function cursorEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  const transcriptPath = event.transcriptPath ?? findTranscript(context.projectRoot ?? context.cwd, event.sessionId);
  return {
    ...event,
    transcriptPath,
    prompt: event.prompt === null ? null : usersWords(event.prompt),
    metadata: metadataOf(event, envelope),
  };
}

function metadataOf(event: Event, { raw }: HookEnvelope): Record<string, string> {
  const metadata: Record<string, string> = {};
  const generation = textAt(raw, ["$.generation_id"]);
  // The generation changes with each user message.
  if (event.type === "TurnStart" && generation !== null) metadata["prompt_id"] = generation.slice(0, 200);
  if (valueAt(raw, "$.is_background_agent") === true) metadata["background"] = "true";
  const mode = textAt(raw, ["$.composer_mode"]);
  if (mode !== null) metadata["composer_mode"] = mode.slice(0, 200);
  const status = textAt(raw, ["$.status"]);
  if (event.type === "TurnEnd" && (status === "aborted" || status === "error")) metadata["error"] = status;
  return metadata;
}
