/** GitHub Copilot CLI. What its profile can't say: whose hook it is inside a subagent, its transcripts, its hooks' file. */
import type { Agent } from "../agent.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { copilotEvent } from "./events.ts";
import { waitForTurn } from "./flush.ts";
import { createForker } from "./fork.ts";
import { hookFile } from "./hook-file.ts";
import { TRANSCRIPT } from "./places.ts";
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => copilotEvent(profile, envelope, context),
    analyser: { readStretch, read: readConversation },
    preparer: { waitForTurn },
    forker: createForker(profile),
    usualTranscript: () => `session/${TRANSCRIPT}`,
    hookFile: { content: (command) => hookFile(profile, command) },
  };
}
