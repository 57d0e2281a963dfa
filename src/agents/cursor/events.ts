/** What Cursor's hook payloads mean, beyond what its profile says. */
import { commonEvent } from "../common.ts";
import type { AgentContext, Event, HookEnvelope } from "../event.ts";
import { textAt, valueAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { findTranscript } from "./places.ts";
import { usersWords } from "./prompts.ts";

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
  // It changes with each message of the user.
  if (event.type === "TurnStart" && generation !== null) metadata["prompt_id"] = generation.slice(0, 200);
  if (valueAt(raw, "$.is_background_agent") === true) metadata["background"] = "true";
  const status = textAt(raw, ["$.status"]);
  if (event.type === "TurnEnd" && (status === "aborted" || status === "error")) metadata["error"] = status;
  return metadata;
}
