/** Factory Droid. What its profile can't say: its events' finer points, its transcripts, its replies. */
import type { Agent } from "../agent.ts";
import { noticeIn } from "../notice.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { droidEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { projectDirectoryName } from "./places.ts";
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => droidEvent(profile, envelope, context),
    // Droid has written the end of a turn before it calls its hooks: nothing has to be waited for.
    analyser: { readStretch, read: readConversation, countsTokens: false },
    tellsTokens: true,
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    sessionFolder: projectDirectoryName,
  };
}
