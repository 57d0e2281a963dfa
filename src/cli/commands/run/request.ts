/** Builds a run request from the command line, and reports every error before anything starts. */

import { getAgent } from "../../../agents/registry/registry.ts";
import { UserError } from "../../../base/errors.ts";
import { logTo } from "../../../base/log.ts";
import { printable } from "../../../base/text.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { findRunner, type Runner, requireProgram, requireRunner } from "../../../run/agents.ts";
import { modelIn } from "../../../run/command.ts";
import type { RunRequest } from "../../../run/headless.ts";
import { type Budget, type Limits, parseBudget, parseTime } from "../../../run/limits.ts";
import { findLog, type LogFile, nameOf } from "../../../run/log/layout.ts";
import { parentFromEnvironment, requireParent } from "../../../run/parent.ts";
import { hasPrice } from "../../../transcripts/prices.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import type { runCommand } from "./commands.ts";

export type RunOptions = OptionsOf<typeof runCommand>;

const GO_ON = "Continue with the unfinished work.";
const MAX_TAG = 64;

export async function requestOf(options: RunOptions, logs: string, io: Io): Promise<RunRequest> {
  const workspace = findWorkspace(io.cwd);
  if (workspace && isEnabled(workspace)) logTo(workspace.storeDir);
  const { config } = settingsOf(workspace);
  const resumed = options.resume ?? options.resumeTree;
  const prompt = options.prompt ?? (resumed === undefined ? undefined : GO_ON);
  if (prompt === undefined || prompt.trim() === "") {
    throw new UserError("usage", "The prompt is empty.", 'Pass a prompt: `backtrail run "fix the login bug"`.');
  }
  const session = options.session === undefined ? null : requireLog(logs, options.session);
  const runner = await runnerFor(options, session, config.default_agent, workspace, io);
  const program = requireProgram(runner, io.environment["PATH"]);
  const own = config.run.agents[runner.name] ?? config.run.agents[runner.profile.id] ?? {};
  const args = [...(own.args ?? []), ...options.rest];
  if (!options.quiet) await warnOfObstacles(runner, workspace, io, args);
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

/** Warns if the agent will not call our hooks: such a run leaves nothing to undo. */
async function warnOfObstacles(
  { profile }: Runner,
  workspace: Workspace | undefined,
  io: Io,
  args: readonly string[],
): Promise<void> {
  // With this flag of the user's, Codex runs hooks that were not reviewed.
  if (args.includes("--dangerously-bypass-hook-trust")) return;
  const scope = workspace && isEnabled(workspace) ? connectedAgents(workspace)[profile.id]?.scope : undefined;
  if (!workspace || (scope !== "local" && scope !== "project" && scope !== "user")) return;
  const [{ agentHealth }, agent] = await Promise.all([
    import("../../../maintenance/doctor/agent-health.ts"),
    getAgent(profile.id, workspace),
  ]);
  if (!agent) return;
  const shown = (file: string) => placeOf(file, workspace.root);
  const { obstacles } = await agentHealth(workspace, agent, scope, { executable: ownExecutable(), shown });
  for (const { message, hint } of obstacles)
    io.say(
      `${io.err.paint("yellow", "warning:")} ${printable(`This run is not recorded for undo. ${message} ${hint}`)}`,
    );
}

/** A session can only be continued by its own agent. */
async function runnerFor(
  options: RunOptions,
  session: LogFile | null,
  usual: string,
  workspace: Workspace | undefined,
  io: Io,
): Promise<Runner> {
  const chosen = options.agent ?? (io.environment["AIWR_DEFAULT_AGENT"] || undefined);
  if (session === null) return requireRunner(chosen ?? usual, workspace);
  const { agentOf } = await import("../../../run/log/log-ends.ts");
  const agent = await agentOf(session);
  const own = agent === null ? undefined : await findRunner(agent, workspace);
  const runner = options.agent === undefined && own ? own : await requireRunner(chosen ?? usual, workspace);
  if (own && own.name !== runner.name) {
    throw new UserError(
      "usage",
      `Session ${session.name} belongs to ${own.name}, so ${runner.name} can't continue it.`,
      `\`--resume ${session.name}\` gives ${runner.name} the log of that session.`,
    );
  }
  if (runner.run.resume) return runner;
  throw new UserError(
    "usage",
    `${runner.name} can't continue a session.`,
    `\`--resume ${session.name}\` starts a new one.`,
  );
}

function requireLog(logs: string, id: string): LogFile {
  const log = findLog(logs, id);
  if (log) return log;
  throw new UserError("failed", `Session not found: ${id}`, "`--list` shows all sessions.");
}

/** Returns the full id, which the agent needs. Refuses an id that the agent would parse as a flag. */
function idOf(log: LogFile, given: string): string {
  const id = log.name === nameOf(given) ? given : log.name;
  if (!id.startsWith("-")) return id;
  throw new UserError(
    "usage",
    `Session ${id} can't be continued: its id looks like a flag.`,
    "`--resume` starts a new one.",
  );
}

async function contextFor(logs: string, id: string, withTree: boolean): Promise<string> {
  const log = requireLog(logs, id);
  const [{ readTree, nodesIn }, { contextOf }] = await Promise.all([
    import("../../../run/log/tree.ts"),
    import("../../../run/context.ts"),
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

/** Refuses a budget if the agent does not report the usage that it limits. */
function requireTold(budget: Budget, { name, run, profile }: Runner, model: string | null): void {
  const usage = run.stream.rules.filter((rule) => rule.is === "usage");
  const tellsTokens = usage.some((rule) => rule.tokens);
  if (budget.cost === null ? tellsTokens : usage.some((rule) => rule.cost)) return;
  if (!tellsTokens) {
    const what = budget.cost === null ? "how many tokens it uses" : "what it costs";
    throw new UserError(
      "usage",
      `${name} does not report ${what}, so it can't have a budget.`,
      "Limit its time with --timeout.",
    );
  }
  if (model !== null && hasPrice(profile.id, model)) return;
  throw new UserError(
    "usage",
    `${name} does not report what it costs, and ${model === null ? "its model is unknown" : `the price of ${model} is unknown`}.`,
    `${model === null ? "Name the model with --model, or give" : "Give"} the budget in tokens, such as --budget 200k.`,
  );
}

/** A tag must be one word, so that it is easy to type again. */
function tagOf(text: string): string {
  if (text.length <= MAX_TAG && /^[\p{L}\p{N}][\p{L}\p{N}._:/-]*$/u.test(text)) return text;
  throw new UserError(
    "usage",
    `"${text}" can't be a tag.`,
    `A tag is one word of letters, digits, and . _ : / -, at most ${MAX_TAG} characters long.`,
  );
}
