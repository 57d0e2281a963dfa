/**
 * Gemini CLI. What its profile can't say: its events' finer points, its transcripts, its replies. It has written the
 * end of a turn to the transcript before it tells of it, so nothing has to be waited for.
 */
import { basename } from "node:path";
import type { Agent } from "../agent.ts";
import { noticeIn } from "../notice.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { geminiEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => geminiEvent(profile, envelope, context),
    analyser: { readStretch, read: readConversation },
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    usualTranscript: (root) =>
      `${basename(root)
        .toLowerCase()
        .replace(/[^a-z0-9-]+/g, "-")}/chats/session.jsonl`,
  };
}
