/** What a run is asked for, from the command line: everything that can be wrong is found before anything is started. */
import { UserError } from "../../base/errors.ts";
import { logTo } from "../../base/log.ts";
import { isTracked } from "../../git/tracked.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import { findRunner, type Runner, requireProgram, requireRunner } from "../../run/agents.ts";
import { modelIn } from "../../run/command.ts";
import type { RunRequest } from "../../run/headless.ts";
import { findLog, type LogFile, nameOf } from "../../run/layout.ts";
import { type Budget, type Limits, parseBudget, parseTime } from "../../run/limits.ts";
import { parentFromEnvironment, requireParent } from "../../run/parent.ts";
import { hasPrice } from "../../transcripts/prices.ts";
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
  worktree?: boolean;
  timeout?: string;
  budget?: string;
  tag?: string[];
  output?: "json" | "text" | "stream";
  parallel?: string;
  prompts?: string;
  rest: readonly string[];
}

const GO_ON = "Go on with what is unfinished.";
const LONGEST_TAG = 64;

export async function requestOf(options: RunOptions, logs: string, io: Io): Promise<RunRequest> {
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
        ? ((await parentFromEnvironment(logs, io.environment, io.cwd)) ?? null)
        : null;
  const model = options.model ?? modelIn(runner.run, args) ?? own.model ?? runner.run.model?.default ?? null;
  return {
    runner,
    program,
    prompt,
    model,
    args,
    session: session && { id: idOf(session, options.session ?? ""), log: session },
    parent,
    context: resumed === undefined ? null : await contextFor(logs, resumed, options.resumeTree !== undefined),
    tags: (options.tag ?? []).map(tagOf),
    limits: limitsOf(options, runner, model),
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

function limitsOf({ timeout, budget }: RunOptions, runner: Runner, model: string | null): Limits {
  const limits: Limits = {
    timeoutMs: timeout === undefined ? null : parseTime(timeout),
    budget: budget === undefined ? null : parseBudget(budget),
  };
  if (limits.budget) requireTold(limits.budget, runner, model);
  return limits;
}

/** A budget that nothing is ever held against would only look like one. */
function requireTold(budget: Budget, { name, run, profile }: Runner, model: string | null): void {
  const usage = run.stream.rules.filter((rule) => rule.is === "usage");
  const tellsTokens = usage.some((rule) => rule.tokens);
  if (budget.cost === null ? tellsTokens : usage.some((rule) => rule.cost)) return;
  if (!tellsTokens) {
    const what = budget.cost === null ? "how many tokens it uses" : "what it costs";
    throw new UserError(
      "usage",
      `${name} doesn't tell ${what}, so there can be no budget.`,
      "--timeout bounds its time.",
    );
  }
  if (model !== null && hasPrice(profile.id, model)) return;
  throw new UserError(
    "usage",
    `${name} doesn't tell what it costs, and ${model === null ? "which model it takes is not known" : `the price of ${model} is not known`}.`,
    `${model === null ? "Name the model with --model, or give" : "Give"} the budget in tokens, such as --budget 200k.`,
  );
}

/** A word, so that it can be typed again. */
export function tagOf(text: string): string {
  if (text.length <= LONGEST_TAG && /^[\p{L}\p{N}][\p{L}\p{N}._:/-]*$/u.test(text)) return text;
  throw new UserError(
    "usage",
    `"${text}" can't be a tag.`,
    `A tag is one word of letters, digits, and . _ : / -, at most ${LONGEST_TAG} characters long.`,
  );
}
