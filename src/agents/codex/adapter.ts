/**
 * Codex. What its profile can't say: whose hook it is that runs inside a subagent, its rollouts, its replies.
 * Codex has written the end of a turn before it calls its hooks, so nothing has to be waited for.
 */
import type { Agent } from "../agent.ts";
import { noticeIn } from "../notice.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { codexEvent } from "./events.ts";
import { createForker, fileTime } from "./fork.ts";
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => codexEvent(profile, envelope, context),
    analyser: { readStretch, read: readConversation },
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    usualTranscript: (_, time) => `${fileTime(time).slice(0, 10).replaceAll("-", "/")}/rollout.jsonl`,
    trust: async () => (await import("./trust.ts")).codexTrust,
  };
}
