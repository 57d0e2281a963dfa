/** Resumes a session whose conversation is not recorded here: its agent keeps it and continues it by its id. */
import { existsSync } from "node:fs";
import { connectionOf } from "../../agents/hooks/connection.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { resumeCommand } from "../../agents/shared/resume.ts";
import { sessionKey } from "../../base/ids.ts";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ShownCommand, shownCommand } from "../../model/command.ts";
import { loadSession } from "../../recording/session/store.ts";
import type { Source } from "./source.ts";

export interface KeptSession extends ShownCommand {
  agent: string;
  /** For people. */
  agentName: string;
  session: string;
  time: string;
  prompt: string | null;
}

/** Null if the conversation is recorded, or if the agent can't be asked for it. */
export async function keptByAgent(workspace: Workspace, source: Source): Promise<KeptSession | null> {
  if (source.kind !== "step" || !source.isNewest || source.step.transcript !== null) return null;
  const { agent: id, session, time, prompt } = source.step;
  const agent = id === null ? undefined : await getAgent(id);
  if (id === null || session === null || !agent) return null;
  // A run without hooks may have a session of ours, of which the agent knows nothing.
  if (!["hooks", "by-hand"].includes(connectionOf(agent))) return null;
  const cwd = loadSession(workspace, sessionKey(id, session))?.cwd;
  const command = resumeCommand(agent.profile, session);
  if (cwd === undefined || !existsSync(cwd) || command.steps.length === 0) return null;
  const there = isInside(workspace.root, cwd) ? command : { ...command, cwd };
  return { agent: id, agentName: agent.profile.display_name, session, time, prompt, ...shownCommand(there) };
}
