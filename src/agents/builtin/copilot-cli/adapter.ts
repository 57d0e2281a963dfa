/** The Copilot CLI adapter: hooks inside subagents, transcripts and the hook file, which the profile can't describe. */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { copilotEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { TRANSCRIPT } from "./paths.ts";
import { readEntries } from "./transcript.ts";
import { waitForTurn } from "./wait-for-turn.ts";

const HOOK_SECONDS = 30;

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => copilotEvent(profile, envelope, context),
    analyzer: analyzerOf(readEntries),
    preparer: { waitForTurn },
    forker: createForker(profile),
    usualTranscript: () => `session/${TRANSCRIPT}`,
    hookFile: { content: (command) => hookFile(profile, command) },
  };
}

/** Copilot reads hooks from every file in a directory, so we own this file completely. */
function hookFile(profile: Profile, command: (verb: string) => string): string {
  const installed = Object.entries(profile.hooks?.install ?? {});
  const hooks = Object.fromEntries(
    installed.map(([event, { verb, timeout, matcher }]) => [
      event,
      [{ type: "command", ...(matcher ? { matcher } : {}), bash: command(verb), timeoutSec: timeout ?? HOOK_SECONDS }],
    ]),
  );
  return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`;
}
