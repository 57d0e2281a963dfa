/** `run`: an agent without a terminal. Three lines of JSON on stdout, talk on stderr, the agent's own exit status. */
import { UserError } from "../../base/errors.ts";
import { logTo } from "../../base/log.ts";
import { oneLine, plural, printable, shorten } from "../../base/text.ts";
import { isTracked } from "../../git/tracked.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import { findRunner, type Runner, requireProgram, requireRunner } from "../../run/agents.ts";
import { signalNumber } from "../../run/child.ts";
import { modelIn } from "../../run/command.ts";
import { HeadlessRun, type Listener, type Outcome, type RunRequest } from "../../run/headless.ts";
import { cannotWrite, findLog, type LogFile, logsDirectory, nameOf } from "../../run/layout.ts";
import { parentFromEnvironment, requireParent } from "../../run/parent.ts";
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";
import { settingsOf } from "../settings.ts";

export interface RunOptions {
  prompt?: string;
  agent?: string;
  model?: string;
  parent?: string;
  session?: string;
  resume?: string;
  resumeTree?: string;
  list?: boolean;
  verbose?: boolean;
  quiet?: boolean;
  rest: readonly string[];
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const GO_ON = "Go on with what is unfinished.";
const LONGEST_REASON = 500;

export async function run(options: RunOptions, io: Io): Promise<number> {
  const logs = logsDirectory(io.cwd, io.environment);
  if (options.list) return list(logs, io);
  const request = await requestOf(options, logs, io);
  return perform(request, options, io);
}

async function list(logs: string, io: Io): Promise<number> {
  const [{ readTree }, { listLines }] = await Promise.all([import("../../run/tree.ts"), import("../../run/list.ts")]);
  const lines = listLines(await readTree(logs));
  if (lines.length === 0) io.say(`No sessions in ${logs}.`);
  // One write: there may be thousands.
  if (lines.length > 0) io.print(lines.join("\n"));
  return EXIT.done;
}

/** Everything that can be wrong is found before anything is started or written. */
async function requestOf(options: RunOptions, logs: string, io: Io): Promise<RunRequest> {
  const workspace = findWorkspace(io.cwd);
  if (workspace && isEnabled(workspace)) logTo(workspace.storeDir);
  const { config } = settingsOf(workspace);
  const resumed = options.resume ?? options.resumeTree;
  const prompt = options.prompt ?? (resumed === undefined ? undefined : GO_ON);
  if (prompt === undefined || prompt.trim() === "") {
    throw new UserError("usage", "There is no prompt.", 'Say what to ask: `backtrail run "fix the login bug"`.');
  }
  const session = options.session === undefined ? null : requireLog(logs, options.session);
  const runner = await runnerFor(options, session, config.default_agent, workspace, io);
  const program = requireProgram(runner, io.environment["PATH"]);
  const own = config.run.agents[runner.name] ?? config.run.agents[runner.profile.id] ?? {};
  const args = [...(own.args ?? []), ...options.rest];
  const parent =
    options.parent !== undefined
      ? requireParent(logs, options.parent, io.cwd)
      : session === null
        ? (parentFromEnvironment(logs, io.environment, io.cwd) ?? null)
        : null;
  return {
    runner,
    program,
    prompt,
    model: options.model ?? modelIn(runner.run, args) ?? own.model ?? runner.run.model?.default ?? null,
    args,
    session: session && { id: idOf(session, options.session ?? ""), log: session },
    parent,
    context: resumed === undefined ? null : await contextFor(logs, resumed, options.resumeTree !== undefined),
    logs,
    cwd: io.cwd,
    environment: io.environment,
  };
}

/** A session is continued by its own agent. */
async function runnerFor(
  options: RunOptions,
  session: LogFile | null,
  usual: string,
  workspace: Workspace | undefined,
  io: Io,
): Promise<Runner> {
  const repository = workspace && { root: workspace.root, isTracked: (file: string) => isTracked(workspace, file) };
  const chosen = options.agent ?? (io.environment["AIWR_DEFAULT_AGENT"] || undefined);
  if (session === null) return requireRunner(chosen ?? usual, repository);
  const { agentOf } = await import("../../run/edges.ts");
  const told = agentOf(session);
  const own = told === null ? undefined : await findRunner(told, repository);
  const runner = options.agent === undefined && own ? own : await requireRunner(chosen ?? usual, repository);
  if (own && own.name !== runner.name) {
    throw new UserError(
      "usage",
      `Session ${session.name} is one of ${own.name}'s, and ${runner.name} can't continue it.`,
      `\`--resume ${session.name}\` gives ${runner.name} what was done there.`,
    );
  }
  if (runner.run.resume) return runner;
  throw new UserError(
    "usage",
    `${runner.name} can't continue a session.`,
    `\`--resume ${session.name}\` begins a new one.`,
  );
}

function requireLog(logs: string, id: string): LogFile {
  const log = findLog(logs, id);
  if (log) return log;
  throw new UserError("failed", `Session not found: ${id}`, "`--list` shows the sessions there are.");
}

/** The agent knows its session by the whole id. One that it would take for a flag it can't be asked for. */
function idOf(log: LogFile, given: string): string {
  const id = log.name === nameOf(given) ? given : log.name;
  if (!id.startsWith("-")) return id;
  throw new UserError(
    "usage",
    `Session ${id} can't be continued: its id reads as a flag.`,
    "`--resume` begins a new one.",
  );
}

async function contextFor(logs: string, id: string, withTree: boolean): Promise<string> {
  const log = requireLog(logs, id);
  const [{ readTree, nodesIn }, { contextOf }] = await Promise.all([
    import("../../run/tree.ts"),
    import("../../run/context.ts"),
  ]);
  const node = nodesIn(await readTree(logs)).find((each) => each.id === log.name);
  if (!node) throw new UserError("failed", `Session not found: ${id}`);
  return contextOf(node, withTree);
}

async function perform(request: RunRequest, options: RunOptions, io: Io): Promise<number> {
  const { name } = request.runner;
  // Whoever read the first line may have gone: the run goes on, and its log is whole.
  const tell = (value: object) => void (io.out.offer ?? io.out.write)(`${JSON.stringify(value)}\n`);
  const listener: Listener = {
    started: (start) => !options.quiet && tell(start),
    identified: (id) => !options.quiet && tell({ session_id: id, agent: name }),
    ...(options.verbose && { output: (chunk: Buffer) => io.err.offer?.(printable(chunk.toString("utf8"))) }),
  };
  let signal: NodeJS.Signals | null = null;
  let running: HeadlessRun | undefined;
  const stop = (caught: NodeJS.Signals) => {
    signal ??= caught;
    running?.stop(caught);
  };
  for (const each of SIGNALS) process.on(each, stop);
  running = HeadlessRun.start(request, listener);
  if (signal !== null) running.stop(signal);
  const outcome = await running.finished;
  tell({ result: outcome.result, agent: name });
  report(outcome, request, signal, io);
  if (signal !== null) return 128 + signalNumber(signal);
  // Some agents end with success when their model server gave none.
  return outcome.code === 0 && outcome.status === "failed" ? EXIT.failed : outcome.code;
}

/** What went wrong, on stderr; a run that went well says nothing. */
function report(outcome: Outcome, request: RunRequest, signal: NodeJS.Signals | null, io: Io): void {
  const { name } = request.runner;
  const warn = (text: string) => io.err.offer?.(`${io.err.paint("yellow", "warning:")} ${printable(text)}\n`);
  if (outcome.logFailure !== null) {
    const { message, hint } = cannotWrite(request.logs, outcome.logFailure);
    warn(`${message}: the log ends before the run did. ${hint ?? ""}`);
  }
  if (outcome.dropped > 0)
    warn(`${plural(outcome.dropped, "line")} of ${name}'s, over 16 MiB long, is not in the log.`);
  if (signal !== null) return;
  if (outcome.status === "completed") return;
  const reason = shorten(oneLine(outcome.failure ?? lastLine(outcome.stderr)), LONGEST_REASON);
  const ended = outcome.code === 0 ? "without its final record" : `with status ${outcome.code}`;
  const what = outcome.status === "failed" && outcome.code === 0 ? "failed" : `ended ${ended}`;
  io.err.offer?.(
    `${io.err.paint("red", "error:")} ${printable(`${name} ${what}${reason === "" ? "." : `: ${reason}`}`)}\n`,
  );
  if (outcome.nameless) warn(`${name} told no session id; the log is kept as ${outcome.sessionId}.`);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
