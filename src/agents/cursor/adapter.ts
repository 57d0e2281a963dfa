/**
 * Cursor. What its profile can't say: where the transcript is when the payload doesn't tell, and which words of it are
 * the user's. It keeps the conversation it continues in a database of its own, so a transcript that is cut changes
 * nothing: no forker. Known and ignored: `before`/`afterShellExecution` and `afterFileEdit` (`pre`/`postToolUse` tell the
 * same), the MCP, read, tab, response and thought events, `workspaceOpen`.
 */
import type { Agent } from "../agent.ts";
import { createAnalyser } from "../generic/analyse.ts";
import type { Profile } from "../profile.ts";
import { cursorEvent } from "./events.ts";
import { waitForGrowth } from "./flush.ts";
import { withUsersWords } from "./prompts.ts";

export function createAgent(profile: Profile): Agent {
  const agent: Agent = { profile, toEvent: (envelope, context) => cursorEvent(profile, envelope, context) };
  const lines = profile.transcript?.lines;
  if (!lines) return agent;
  const analyser = withUsersWords(createAnalyser({ lines, tools: profile.hooks?.tools ?? {} }));
  return { ...agent, analyser, preparer: { waitForTurn: (_event, path, from) => waitForGrowth(path, from) } };
}
