/** One run from its start to its end: the agent is started, its lines are logged as they come, and read for the result. */
import { dirname } from "node:path";
import { now } from "../base/clock.ts";
import { codeOf, UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { newSessionId } from "../base/ids.ts";
import type { Runner } from "./agents.ts";
import { AgentProcess } from "./child.ts";
import { commandOf } from "./command.ts";
import { cannotWrite, dayDirectory, folderOf, type LogFile, newRunId } from "./layout.ts";
import { type Facts, factsOf, noteEnd, noteName, noteStart } from "./ledger.ts";
import { type Limits, overBudget } from "./limits.ts";
import { RunLog } from "./log.ts";
import { PARENT_VARIABLE, type Parent, RUN_VARIABLE, SESSION_VARIABLE } from "./parent.ts";
import type {
  DroppedRecord,
  EndStatus,
  MetaRecord,
  StartRecord,
  StoppedRecord,
  StopReason,
  TagsRecord,
} from "./records.ts";
import { type Moment, RunResult, type Usage } from "./result.ts";
import { LineSplitter } from "./stream.ts";

export interface RunRequest {
  runner: Runner;
  program: string;
  prompt: string;
  model: string | null;
  args: readonly string[];
  /** The session to continue, and its log. */
  session: { id: string; log: LogFile } | null;
  parent: Parent | null;
  /** What the agent is to know beforehand, of sessions that are resumed. */
  context: string | null;
  tags: readonly string[];
  limits: Limits;
  logs: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/** What whoever started the run hears of it while it goes on. */
export interface Listener {
  started(start: StartRecord): void;
  identified(sessionId: string): void;
  /** Every line that was logged. */
  line?(value: Record<string, unknown>, result: RunResult): void;
  /** What the agent does, as its lines tell it. */
  moment?(moment: Moment): void;
  /** The agent's own output and errors, as they come. */
  output?(chunk: Buffer): void;
}

export interface Outcome {
  sessionId: string;
  result: string;
  status: EndStatus;
  /** What the process ended with. */
  code: number;
  /** What went wrong, in the agent's words. */
  failure: string | null;
  usage: Usage;
  /** The end of what it wrote to standard error. */
  stderr: string;
  /** The agent has told no id of its own: the log has one of ours. */
  nameless: boolean;
  /** Lines that were too long to be logged. */
  dropped: number;
  /** Why the log ends before the run did. */
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

  /** Ends the agent, as an interrupt does: SIGINT, SIGTERM, SIGKILL, until it has ended. */
  stop(signal: NodeJS.Signals): void {
    this.#stopped = true;
    this.#process.stop(signal);
  }

  static start(request: RunRequest, listener: Listener): HeadlessRun {
    const { runner, logs, session } = request;
    const own = newRunId();
    const command = commandOf(runner.run, { ...request, session: session?.id ?? null, newSession: newSessionId() });
    const start: StartRecord = { type: "aiwr_start", prompt: request.prompt, agent: runner.name, model: request.model };
    // A session that is continued is known by its first run.
    const facts = session ? null : factsOf(start, request.parent?.id ?? null, now().getTime());
    const log = openLog(request, own, start, facts);
    listener.started(start);

    const result = new RunResult(runner.run.stream, { agent: runner.profile.id, model: request.model });
    let identified: string | null = null;
    let dropped = 0;
    const identify = (id: string) => {
      identified = id;
      const before = log.name;
      if (!session) log.identify(id, id === command.session);
      faultPoint("run:named");
      if (log.name !== before) noteName(logs, before, log.name);
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
        if (limit === null && result.status === "interrupted" && overBudget(result.usage, request.limits.budget)) {
          stopFor("over-budget");
        }
        const id = result.sessionId ?? (runner.run.new_session?.at_once ? command.session : null);
        if (identified === null && id !== null) identify(id);
        listener.line?.(value, result);
        for (const moment of moments) listener.moment?.(moment);
      },
      tooLong(bytes) {
        dropped++;
        log.record({ type: "aiwr_dropped", bytes } satisfies DroppedRecord);
      },
    });

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
      const nameless = identified === null && session === null;
      if (identified === null) listener.identified(session?.id ?? log.name);
      const told = code !== 0 ? "failed" : result.status;
      const status = stopped() ? "interrupted" : (limit ?? told);
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

function openLog(request: RunRequest, own: string, start: StartRecord, facts: Facts | null): RunLog {
  const { logs, parent, session, tags } = request;
  try {
    // Written down first: killed right after, the session is not taken for one that had ended.
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
  return parent?.log ? folderOf(parent.log) : day;
}

/** Runs that the agent starts find their parent, and the logs, wherever they are started. */
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
    throw new UserError("failed", `${runner.name} could not be started (${reason}).`, `Its program is ${program}.`);
  }
}
