/** The Factory AI Droid adapter: event details, transcripts and hook replies, which the profile can't describe. */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { noticeIn } from "../../hooks/notice.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { droidEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { projectDirectoryName } from "./paths.ts";
import { readEntries } from "./transcript.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => droidEvent(profile, envelope, context),
    // Droid writes the end of a turn before it calls its hooks, so no preparer is needed.
    analyzer: analyzerOf(readEntries, { countsTokens: false }),
    tellsTokens: true,
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    sessionFolder: projectDirectoryName,
  };
}
