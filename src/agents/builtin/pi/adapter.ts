/**
 * The Pi adapter. Our extension acts as its hooks. A session is a tree in one file, which Pi writes before its events.
 */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { programHookFile } from "../../hooks/file.ts";
import { noticeIn } from "../../hooks/notice.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { piEvent } from "./events.ts";
import extension from "./extension.js" with { type: "text" };
import { createForker } from "./fork.ts";
import { directoryName } from "./paths.ts";
import { readEntries } from "./transcript.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => piEvent(profile, envelope, context),
    analyzer: analyzerOf(readEntries),
    forker: createForker(profile),
    responder: noticeIn("notice"),
    usualTranscript: (root) => `${directoryName(root)}/session.jsonl`,
    hookFile: programHookFile(profile, extension),
  };
}
