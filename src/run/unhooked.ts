/**
 * Records runs of agents that have no hooks: the turn begins before the agent starts and ends when it has ended. Other
 * agents report their turns themselves.
 */
import { existsSync } from "node:fs";
import { findTranscript } from "../agents/generic/place.ts";
import { connectionOf } from "../agents/hooks/connection.ts";
import { getAgent } from "../agents/registry/registry.ts";
import { now } from "../base/clock.ts";
import { newSessionId, withoutLeadingHyphen } from "../base/ids.ts";
import { logError } from "../base/log.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { startCapture } from "../git/snapshot/snapshot.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import type { Event } from "../model/event.ts";
import { NO_TOKENS } from "../model/tokens.ts";
import { captureOptions, dispatch } from "../recording/dispatcher.ts";
import type { Captured } from "../recording/session/session.ts";
import { startWorker } from "../recording/start-worker.ts";
import type { Outcome, RunRequest } from "./headless.ts";

export interface RecordedRun {
  request: RunRequest;
  ended(outcome: Outcome): Promise<void>;
}

/** Saves the state before a run whose agent has no hooks; returns the request of any other run unchanged. */
export async function recordedRun(request: RunRequest): Promise<RecordedRun> {
  const workspace = findWorkspace(request.cwd);
  const agent = workspace && isEnabled(workspace) ? await getAgent(request.runner.profile.id) : undefined;
  if (!workspace || !agent || connectionOf(agent) !== "runs") return { request, ended: async () => {} };

  const ours = request.session?.id ?? newSessionId();
  const config = loadConfig(workspace);
  const context = {
    agent: agent.profile.id,
    cwd: request.cwd,
    projectRoot: workspace.root,
    transcriptPath: null,
    envFile: null,
    // If this process dies, another one closes the turn with the files of that moment.
    pid: process.pid,
  };
  const tell = async (sessionId: string, event: Partial<Event> & Pick<Event, "type">, captured?: Captured) => {
    try {
      const input = { workspace, agent, config, context: { ...context, sessionId }, ...(captured ? { captured } : {}) };
      const told = await dispatch({ ...input, event: { ...QUIET, ...event, sessionId } });
      if (told.background) startWorker(workspace, told.again);
    } catch (error) {
      logError(`run ${agent.profile.id}`, error);
    }
  };
  // An agent may keep its conversation under an id that we chose or that it reported.
  const conversation = (sessionId: string) => {
    const path = findTranscript(agent.profile, workspace.root, sessionId);
    return path !== null && existsSync(path) ? path : null;
  };
  const { prompt, model } = request;
  const timestamp = now().toISOString();
  const begin = (sessionId: string, captured?: Captured) => {
    // All of a new session is of this turn, even what the agent has written by now.
    const transcriptPath = request.session === null ? null : conversation(sessionId);
    const start = { type: "TurnStart" as const, timestamp, transcriptPath, prompt, model, tokensSoFar: NO_TOKENS };
    return tell(sessionId, start, captured);
  };
  const captured = choosesId(request) ? await capturedNow(workspace, config) : undefined;
  const wait = request.runner.run.stream.session_from === "files" ? FILE_WAIT_MS : ID_WAIT_MS;
  const turn = new TurnToBegin((id) => begin(id, captured), ours, wait);
  if (captured === undefined) await turn.beginIn(ours);
  return {
    request: {
      ...request,
      newSession: ours,
      onIdentified(id) {
        request.onIdentified?.(id);
        void turn.beginIn(withoutLeadingHyphen(id));
      },
    },
    async ended({ result, status, usage }) {
      await turn.beginIn(ours);
      const transcriptPath = conversation(turn.sessionId);
      const isKnown = usage !== null && usage.tokens.input + usage.tokens.output > 0;
      await tell(turn.sessionId, {
        type: "TurnEnd",
        timestamp: now().toISOString(),
        transcriptPath,
        model,
        // Its text output has more than the last answer.
        response: result === "" || transcriptPath !== null ? null : result,
        metadata: status === "completed" ? {} : { error: status },
        ...(isKnown ? { tokensSoFar: usage.tokens } : {}),
      });
    },
  };
}

/** Whether the agent chooses the id of a new session and reports it in its output. */
function choosesId({ session, runner: { run } }: RunRequest): boolean {
  const { session_id, session_pattern, session_from } = run.stream;
  const isTold = session_id !== undefined || session_pattern !== undefined || session_from === "files";
  return session === null && !run.new_session && isTold;
}

/** How long a turn waits for the id. After that, the turn is recorded under an id of ours. */
const ID_WAIT_MS = 3_000;
/** Some agents write nothing before the model has answered. */
const FILE_WAIT_MS = 20_000;

/** A turn whose files are captured before the agent starts. It begins when the agent reports its session's id. */
class TurnToBegin {
  sessionId: string;
  #begun: Promise<void> | undefined;
  readonly #begin: (sessionId: string) => Promise<void>;
  readonly #timer: NodeJS.Timeout;

  constructor(begin: (sessionId: string) => Promise<void>, ours: string, longestMs: number) {
    this.#begin = begin;
    this.sessionId = ours;
    this.#timer = setTimeout(() => this.beginIn(ours), longestMs).unref();
  }

  /** The first id counts. */
  beginIn(sessionId: string): Promise<void> {
    if (this.#begun !== undefined) return this.#begun;
    clearTimeout(this.#timer);
    this.sessionId = sessionId;
    this.#begun = this.#begin(sessionId);
    return this.#begun;
  }
}

async function capturedNow(workspace: Workspace, config: Config): Promise<Captured | undefined> {
  const capture = startCapture(workspace, captureOptions(config));
  try {
    return { capture, snapshot: await capture.finish() };
  } catch (error) {
    capture.close();
    logError("run", error);
    return undefined;
  }
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
