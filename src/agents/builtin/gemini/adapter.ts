/**
 * The Gemini CLI adapter: event details, transcripts and hook replies, which the profile can't describe. Gemini CLI
 * writes the end of a turn before it reports it, so no preparer is needed.
 */
import { basename } from "node:path";
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { noticeIn } from "../../hooks/notice.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { geminiEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { isDocument } from "./records.ts";
import { readEntries } from "./transcript.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => geminiEvent(profile, envelope, context),
    analyzer: analyzerOf(readEntries, { isWhole: isDocument }),
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    usualTranscript: (root) =>
      `${basename(root)
        .toLowerCase()
        .replace(/[^a-z0-9-]+/g, "-")}/chats/session.jsonl`,
  };
}
