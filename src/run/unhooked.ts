/**
 * Records runs of agents that have no hooks: the turn begins before the agent starts and ends when it has ended. Other
 * agents tell of their turns themselves.
 */
import { existsSync } from "node:fs";
import { findTranscript } from "../agents/generic/place.ts";
import { connectionOf } from "../agents/hooks/connection.ts";
import { getAgent } from "../agents/registry/registry.ts";
import { now } from "../base/clock.ts";
import { newSessionId } from "../base/ids.ts";
import { logError } from "../base/log.ts";
import { loadConfig } from "../config/load.ts";
import { findWorkspace, isEnabled } from "../git/workspace.ts";
import type { Event } from "../model/event.ts";
import { NO_TOKENS } from "../model/tokens.ts";
import { dispatch } from "../recording/dispatcher.ts";
import { startWorker } from "../recording/start-worker.ts";
import type { Outcome, RunRequest } from "./headless.ts";

export interface RecordedRun {
  request: RunRequest;
  ended(outcome: Outcome): Promise<void>;
}

/** Saves what is there before the run, where its agent has no hooks; otherwise it leaves the request alone. */
export async function recordedRun(request: RunRequest): Promise<RecordedRun> {
  const workspace = findWorkspace(request.cwd);
  const agent = workspace && isEnabled(workspace) ? await getAgent(request.runner.profile.id) : undefined;
  if (!workspace || !agent || connectionOf(agent) !== "runs") return { request, ended: async () => {} };

  const sessionId = request.session?.id ?? newSessionId();
  const config = loadConfig(workspace);
  const context = {
    agent: agent.profile.id,
    cwd: request.cwd,
    projectRoot: workspace.root,
    transcriptPath: null,
    sessionId,
    envFile: null,
    // If this process dies, the turn is closed with what is there then.
    pid: process.pid,
  };
  const tell = async (event: Partial<Event> & Pick<Event, "type">) => {
    try {
      const told = await dispatch({ workspace, agent, context, config, event: { ...QUIET, ...event, sessionId } });
      if (told.background) startWorker(workspace, told.again);
    } catch (error) {
      logError(`run ${agent.profile.id}`, error);
    }
  };
  // An agent that takes an id of ours may keep its conversation under that id.
  const conversation = () => {
    const path = findTranscript(agent.profile, workspace.root, sessionId);
    return path !== null && existsSync(path) ? path : null;
  };
  const { prompt, model } = request;
  const start = { timestamp: now().toISOString(), transcriptPath: conversation(), prompt, model };
  await tell({ type: "TurnStart", ...start, tokensSoFar: NO_TOKENS });
  return {
    request: { ...request, newSession: sessionId },
    ended({ result, status, usage }) {
      const transcriptPath = conversation();
      const isKnown = usage.tokens.input + usage.tokens.output > 0;
      return tell({
        type: "TurnEnd",
        timestamp: now().toISOString(),
        transcriptPath,
        model,
        // What it prints as text is more than its last answer.
        response: result === "" || transcriptPath !== null ? null : result,
        metadata: status === "completed" ? {} : { error: status },
        ...(isKnown ? { tokensSoFar: usage.tokens } : {}),
      });
    },
  };
}

const QUIET: Omit<Event, "type" | "sessionId"> = {
  previousSessionId: null,
  transcriptPath: null,
  prompt: null,
  timestamp: "",
  model: null,
  tool: null,
  subagent: null,
  response: null,
  metadata: {},
};
