/**
 * The Codex adapter: hooks inside subagents, rollouts and hook replies, which the profile can't describe. Codex writes
 * the end of a turn before it calls its hooks, so no preparer is needed.
 */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { noticeIn } from "../../hooks/notice.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { codexEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { fileTime } from "./paths.ts";
import { readEntries, shellUse } from "./transcript.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => codexEvent(profile, envelope, context),
    analyzer: analyzerOf(readEntries),
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    usualTranscript: (_, time) => `${fileTime(time).slice(0, 10).replaceAll("-", "/")}/rollout.jsonl`,
    shellUse,
    trust: async () => (await import("./trust.ts")).codexTrust,
  };
}
