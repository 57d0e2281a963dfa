/** The OpenCode adapter. Our plugin acts as its hooks and writes its transcripts, because OpenCode uses a database. */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { programHookFile } from "../../hooks/file.ts";
import { noticeIn } from "../../hooks/notice.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { openCodeEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import plugin from "./plugin.js" with { type: "text" };
import { readEntries } from "./transcript.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => openCodeEvent(profile, envelope, context),
    analyzer: analyzerOf(readEntries),
    forker: createForker(profile),
    responder: noticeIn("notice"),
    hookFile: programHookFile(profile, plugin),
  };
}
