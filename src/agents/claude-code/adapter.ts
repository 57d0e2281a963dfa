/** Claude Code. What its profile can't say: its events' finer points, its transcripts, its replies. */
import type { Agent } from "../agent.ts";
import { noticeIn } from "../notice.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { claudeEvent } from "./events.ts";
import { waitForTurn } from "./flush.ts";
import { createForker } from "./fork.ts";
import { projectDirectoryName } from "./places.ts";
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => claudeEvent(profile, envelope, context),
    analyser: { readStretch, read: readConversation },
    preparer: { waitForTurn },
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    sessionFolder: projectDirectoryName,
  };
}
