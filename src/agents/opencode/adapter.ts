/** OpenCode. A plugin of ours stands for its hooks and keeps its conversations; its own are in a database. */
import type { Agent } from "../agent.ts";
import { programHookFile } from "../hook-file.ts";
import { noticeIn } from "../notice.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { openCodeEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import plugin from "./plugin.js" with { type: "text" };
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => openCodeEvent(profile, envelope, context),
    analyser: { readStretch, read: readConversation },
    forker: createForker(profile),
    responder: noticeIn("notice"),
    hookFile: programHookFile(profile, plugin),
  };
}
