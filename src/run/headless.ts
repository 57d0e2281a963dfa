/** Performs one run: starts the agent, logs its lines as they arrive, and parses them for the result. */

import { dirname } from "node:path";
import { now } from "../base/clock.ts";
import { codeOf, UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault-point.ts";
import { newSessionId } from "../base/ids.ts";
import { findWorkspace } from "../git/workspace.ts";
import { forgetRun, sessionOfRun } from "../recording/run-session.ts";
import { listSessions } from "../recording/session/store.ts";
import type { Runner } from "./agents.ts";
import { AgentProcess } from "./child.ts";
import { commandOf } from "./command.ts";
import { type Limits, overBudget } from "./limits.ts";
import { factsOf, noteEnd, noteName, noteStart, type RunMetadata, requireLedger } from "./log/index-file.ts";
import { cannotWrite, dayDirectory, folderOf, type LogFile, newRunId } from "./log/layout.ts";
import { RunLog } from "./log/log.ts";
import type {
  DroppedRecord,
  EndStatus,
  MetaRecord,
  ModelRecord,
  StartRecord,
  StoppedRecord,
  StopReason,
  TagsRecord,
  TextRecord,
} from "./log/records.ts";
import { PARENT_VARIABLE, type Parent, RUN_VARIABLE, SESSION_VARIABLE } from "./parent.ts";
import { RunError } from "./problems.ts";
import { RunResult, type StreamEvent, type Usage } from "./result.ts";
import { LineSplitter } from "./stream.ts";
import { toldByFiles } from "./told-by-files.ts";

export interface RunRequest {
  runner: Runner;
  program: string;
  prompt: string;
  model: string | null;
  args: readonly string[];
  /** The session to continue, and its log. */
  session: { id: string; log: LogFile } | null;
  /** The id of a new session, if it is known here already. */
  newSession?: string;
  parent: Parent | null;
  /** Context from resumed sessions that the agent receives before the prompt. */
  context: string | null;
  tags: readonly string[];
  limits: Limits;
  logs: string;
  cwd: string;
  /** Called once with the session's id, as soon as the agent reports it. */
  onIdentified?: (id: string) => void;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Receives the events of a run while it is in progress. */
export interface Listener {
  started(start: StartRecord): void;
  identified(sessionId: string): void;
  /** Called for every logged line. */
  line?(value: Record<string, unknown>, result: RunResult): void;
  /** Called for each agent action parsed from the lines. */
  moment?(moment: StreamEvent): void;
  /** Receives the agent's raw stdout and stderr. */
  output?(chunk: Buffer): void;
}

export interface Outcome {
  sessionId: string;
  result: string;
  status: EndStatus;
  /** The exit status of the process. */
  code: number;
  /** The agent's own error message. */
  failure: string | null;
  /** Null if the agent reported none. */
  usage: Usage | null;
  /** The end of the agent's standard error. */
  stderr: string;
  /** True if the agent reported no session id; the log then keeps the id that we generated. */
  nameless: boolean;
  /** The number of lines that were too long to log. */
  dropped: number;
  /** The error that ended the log before the run ended. */
  logFailure: unknown;
}

export class HeadlessRun {
  readonly finished: Promise<Outcome>;
  readonly #process: AgentProcess;
  #stopped = false;

  private constructor(agent: AgentProcess, finish: (stopped: () => boolean) => Promise<Outcome>) {
    this.#process = agent;
    this.finished = finish(() => this.#stopped);
  }

  /** Stops the agent as an interrupt does: `signal`, then SIGTERM, then SIGKILL, until it ends. */
  stop(signal: NodeJS.Signals): void {
    this.#stopped = true;
    this.#process.stop(signal);
  }

  static start(request: RunRequest, listener: Listener): HeadlessRun {
    const { runner, logs, session } = request;
    const own = newRunId();
    const newSession = request.newSession ?? newSessionId();
    const command = commandOf(runner.run, { ...request, session: session?.id ?? null, newSession });
    const start: StartRecord = { type: "aiwr_start", prompt: request.prompt, agent: runner.name, model: request.model };
    // A continued session keeps the facts of its first run.
    const facts = session ? null : factsOf(start, request.parent?.id ?? null, now().getTime());
    const log = openLog(request, own, start, facts);
    listener.started(start);

    const result = new RunResult(runner.run.stream, { agent: runner.profile.id, model: request.model });
    let identified: string | null = null;
    let dropped = 0;
    let model = request.model;
    const identify = (id: string) => {
      if (identified !== null) return;
      identified = id;
      const before = log.name;
      if (!session) log.identify(id, id === command.session);
      faultPoint("run:named");
      if (log.name !== before) noteName(logs, before, log.name);
      request.onIdentified?.(id);
      listener.identified(id);
    };
    let limit: StopReason | null = null;
    let running: AgentProcess | undefined;
    const stopFor = (reason: StopReason) => {
      limit ??= reason;
      running?.stop("SIGINT");
    };
    const lines = new LineSplitter({
      line(value, bytes) {
        log.line(bytes);
        const moments = result.take(value);
        if (result.model !== null && result.model !== model) {
          model = result.model;
          log.record({ type: "aiwr_model", model } satisfies ModelRecord);
        }
        if (limit === null && result.status === "interrupted" && overBudget(result.usage, request.limits.budget)) {
          stopFor("over-budget");
        }
        teller?.ask(identify);
        const id = result.sessionId ?? (runner.run.new_session?.at_once ? command.session : null);
        if (identified === null && id !== null) identify(id);
        listener.line?.(value, result);
        for (const moment of moments) listener.moment?.(moment);
      },
      other(bytes) {
        if (runner.run.stream.output !== "text") return;
        const text = bytes.toString("utf8");
        log.record({ type: "aiwr_text", text } satisfies TextRecord);
        for (const moment of result.takeText(text)) listener.moment?.(moment);
        if (result.sessionId !== null) identify(result.sessionId);
      },
      tooLong(bytes) {
        dropped++;
        log.record({ type: "aiwr_dropped", bytes } satisfies DroppedRecord);
      },
    });

    const teller = session === null ? tellerOf(request, own) : null;
    const poll = teller && setInterval(() => teller.ask(identify), TOLD_POLL_MS);

    const agent = started(request, {
      args: command.args,
      input: command.input,
      env: environmentFor(request, command.session, own),
      output(chunk) {
        lines.push(chunk);
        listener.output?.(chunk);
      },
      errors: (chunk) => listener.output?.(chunk),
      failed: () => noteEnd(logs, log.name, facts, { status: "failed" }),
    });
    running = agent;
    faultPoint("run:started");
    const { timeoutMs } = request.limits;
    const timer = timeoutMs === null ? undefined : setTimeout(() => stopFor("timed-out"), timeoutMs);

    return new HeadlessRun(agent, async (stopped) => {
      const { code, stderr } = await agent.ended;
      clearTimeout(timer);
      lines.end();
      if (poll) clearInterval(poll);
      teller?.ask(identify);
      teller?.conclude(identify);
      if (identified === null && session === null && request.newSession !== undefined) identify(request.newSession);
      if (code === 0 && !stopped() && limit === null) result.exited();
      const nameless = identified === null && session === null;
      if (identified === null) listener.identified(session?.id ?? log.name);
      const ended = code !== 0 ? "failed" : result.status;
      const status = stopped() ? "interrupted" : (limit ?? ended);
      if (limit !== null) log.record({ type: "aiwr_stopped", reason: limit } satisfies StoppedRecord);
      log.close();
      faultPoint("run:ended");
      noteEnd(logs, log.name, facts, { status, ended: now().getTime(), tags: request.tags, usage: result.usage });
      return {
        sessionId: identified ?? session?.id ?? log.name,
        result: result.text,
        status,
        code,
        failure: result.failure,
        usage: result.usage,
        stderr,
        nameless,
        dropped,
        logFailure: log.broken,
      };
    });
  }
}

/** How often the run looks whether something else than the agent's output tells its session. */
const TOLD_POLL_MS = 100;

function tellerOf(request: RunRequest, run: string) {
  const from = request.runner.run.stream.session_from;
  if (from === "files") return toldByFiles(request);
  return from === "hooks" ? toldByHooks(request, run) : null;
}

/** The session that the run's own hooks report, for an agent that prints none; null where nothing is recorded. */
function toldByHooks({ cwd, runner }: RunRequest, run: string) {
  const workspace = findWorkspace(cwd);
  if (!workspace) return null;
  const ofAgent = () => listSessions(workspace).filter(({ agent }) => agent === runner.profile.id);
  const before = new Set(ofAgent().map(({ id }) => id));
  return {
    ask(identify: (id: string) => void) {
      const id = sessionOfRun(workspace.storeDir, run);
      if (id !== null) identify(id);
    },
    /** Hooks that a daemon of the agent runs do not have the run's variable: then the only new session is the one. */
    conclude(identify: (id: string) => void) {
      const [only, ...others] = ofAgent().filter(({ id }) => !before.has(id));
      if (only && others.length === 0) identify(only.id);
      forgetRun(workspace.storeDir, run);
    },
  };
}

function openLog(request: RunRequest, own: string, start: StartRecord, facts: RunMetadata | null): RunLog {
  const { logs, parent, session, tags } = request;
  try {
    requireLedger(logs);
    // Write the index line first: if we are killed right after, the session does not look like one that had ended.
    noteStart(logs, session?.log.name ?? own, facts, tags);
    faultPoint("run:noted");
    const log = session ? RunLog.continue(logs, session.log) : RunLog.create(logs, directoryFor(logs, parent), own);
    log.record(start);
    if (parent) log.record({ type: "aiwr_meta", parent_id: parent.id } satisfies MetaRecord);
    if (tags.length > 0) log.record({ type: "aiwr_tags", tags: [...tags] } satisfies TagsRecord);
    if (log.broken !== null) throw log.broken;
    faultPoint("run:opened");
    return log;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw cannotWrite(session ? dirname(session.log.path) : logs, error);
  }
}

function directoryFor(logs: string, parent: Parent | null): string {
  const day = dayDirectory(logs, now());
  return parent?.log ? folderOf(logs, parent.log) : day;
}

/** Lets runs that the agent starts find their parent and the logs, whatever directory they start in. */
function environmentFor(request: RunRequest, session: string | null, own: string): Record<string, string | undefined> {
  const id = request.session?.id ?? session ?? undefined;
  return {
    ...request.environment,
    AIWR_LOG_DIR: request.logs,
    [SESSION_VARIABLE]: id,
    [RUN_VARIABLE]: own,
    [PARENT_VARIABLE]: request.parent?.id,
  };
}

type How = Omit<ConstructorParameters<typeof AgentProcess>[0], "program" | "cwd"> & { failed(): void };

function started({ runner, program, cwd }: RunRequest, { failed, ...how }: How): AgentProcess {
  try {
    return new AgentProcess({ program, cwd, ...how });
  } catch (error) {
    failed();
    const reason = codeOf(error) ?? String(error);
    throw new RunError("failed", { kind: "runner-not-started", name: runner.name, program, reason });
  }
}
