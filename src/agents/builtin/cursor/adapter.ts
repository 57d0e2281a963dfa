/**
 * The Cursor adapter: finds the transcript if the payload does not name it, and extracts the user's text. Cursor
 * resumes conversations from its database, so cutting a transcript has no effect and there is no forker. Ignored
 * events: `before`/`afterShellExecution` and `afterFileEdit` (`pre`/`postToolUse` report the same), the MCP, read, tab,
 * response and thought events, `workspaceOpen`.
 */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { entryReader } from "../../generic/transcript.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { cursorEvent } from "./events.ts";
import { withUsersWords } from "./transcript.ts";
import { waitForGrowth } from "./wait-for-turn.ts";

export function createAgent(profile: Profile): Agent {
  const agent: Agent = { profile, toEvent: (envelope, context) => cursorEvent(profile, envelope, context) };
  const lines = profile.transcript?.lines;
  if (!lines) return agent;
  const readEntries = withUsersWords(entryReader({ lines, tools: profile.hooks?.tools ?? {} }));
  const analyzer = analyzerOf(readEntries, { countsTokens: lines.tokens !== undefined });
  return { ...agent, analyzer, preparer: { waitForTurn: (_event, path, from) => waitForGrowth(path, from) } };
}
