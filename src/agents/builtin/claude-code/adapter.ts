/** The Claude Code adapter: event details, transcripts and hook replies, which the profile can't describe. */

import { isRecord } from "../../../base/json.ts";
import type { Agent, ShellUse } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { noticeIn } from "../../hooks/notice.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { claudeEvent } from "./events.ts";
import { createForker } from "./fork.ts";
import { projectDirectoryName } from "./paths.ts";
import { readEntries } from "./transcript.ts";
import { isUsingTool, waitForTurn } from "./wait-for-turn.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: (envelope, context) => claudeEvent(profile, envelope, context),
    analyzer: analyzerOf(readEntries),
    preparer: { waitForTurn },
    isUsingTool,
    forker: createForker(profile),
    responder: noticeIn("systemMessage"),
    sessionFolder: projectDirectoryName,
    shellUse: bashUse,
  };
}

function bashUse(toolName: string | null, input: unknown): ShellUse | null {
  if (toolName !== "Bash" || !isRecord(input)) return null;
  const { command, run_in_background: inBackground } = input;
  return typeof command === "string" && command !== ""
    ? { commands: [command], inBackground: inBackground === true }
    : null;
}
