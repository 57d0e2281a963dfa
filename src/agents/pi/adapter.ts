/** Pi. An extension of ours stands for its hooks; a session is a tree in one file, written before its events are told. */
import type { Agent } from "../agent.ts";
import { programHookFile } from "../hook-file.ts";
import { noticeIn } from "../notice.ts";
import type { Profile } from "../profile.ts";
import { readConversation } from "./conversation.ts";
import { piEvent } from "./events.ts";
import extension from "./extension.js" with { type: "text" };
import { createForker } from "./fork.ts";
import { directoryName } from "./places.ts";
import { readStretch } from "./stretch.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => piEvent(profile, envelope, context),
    analyser: { readStretch, read: readConversation },
    forker: createForker(profile),
    responder: noticeIn("notice"),
    usualTranscript: (root) => `${directoryName(root)}/session.jsonl`,
    hookFile: programHookFile(profile, extension),
  };
}
