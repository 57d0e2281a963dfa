/**
 * The hook road: payload in, event, dispatcher, reply out. It imports almost nothing, answers in bounded time and
 * always with success: whatever goes wrong is written to the log, and the agent goes on.
 */
import type { Agent } from "./agents/agent.ts";
import { borrowerOf } from "./agents/borrowed.ts";
import { knowsEvent } from "./agents/common.ts";
import type { AgentContext } from "./agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "./agents/normalise.ts";
import { isAgentId } from "./agents/profile.ts";
import { getAgent, listAgents, unknownAgent } from "./agents/registry.ts";
import { log, logError, logTo, setLogLevel } from "./base/log.ts";
import { readInput } from "./base/stdin.ts";
import { oneLine, shorten } from "./base/text.ts";
import { loadConfig } from "./config/load.ts";
import { killRunningGit } from "./git/run.ts";
import { isTracked } from "./git/tracked.ts";
import { findWorkspace, isEnabled, readStore, type Workspace } from "./git/workspace.ts";
import { startWorker } from "./lifecycle/background.ts";
import { dispatch } from "./lifecycle/dispatcher.ts";

/** Agents cut a hook's time: a prompt's at 30 s, a session's end at 10 s. */
const LONGEST_MS = 20_000;
const LONGEST_AT_SESSION_END_MS = 8_000;
const LONGEST_ID = 200;

/** `argv` is what follows `hooks`: the agent, the verb, and for some agents the payload. */
export async function runHook(argv: readonly string[]): Promise<void> {
  // Agents that we ask something ourselves are nobody's session.
  if (process.env["BACKTRAIL_HOOKS"] === "off") return;
  const [agentId = "", verb = ""] = argv;
  const longest = verb.includes("session-end") ? LONGEST_AT_SESSION_END_MS : LONGEST_MS;
  // Whoever calls may have put anything there.
  const where = `hook ${shorten(oneLine(`${agentId} ${verb}`.slice(0, 200)), 80)}`;
  const watchdog = setTimeout(() => {
    logError(where, `It took longer than ${longest} ms and was given up.`);
    killRunningGit();
    process.exit(0);
  }, longest);
  try {
    if (agentId === "git") {
      if (verb.includes("commit"))
        await (await import("./lifecycle/commits.ts")).runGitHook(verb, argv.slice(2), askTerminal);
      else if (verb === "pre-push") (await import("./lifecycle/pushing.ts")).beforePush(process.cwd());
    } else await handle(agentId, verb, argv, where);
  } catch (error) {
    logError(where, error);
  }
  clearTimeout(watchdog);
}

/** Only where a commit is to be asked about. */
async function askTerminal(question: string, seconds: number): Promise<boolean | null> {
  return (await import("./cli/terminal-question.ts")).askTerminal(question, seconds);
}

async function handle(agentId: string, verb: string, argv: readonly string[], where: string): Promise<void> {
  const reading = readInput(argv.at(-1));
  const named = (await getAgent(agentId)) ?? unknownAgent();
  const input = await reading;
  const raw = readPayload(input, argv.slice(2));
  const place = contextFor(named, verb, raw);
  const found =
    findWorkspace(place.projectRoot ?? place.cwd) ?? findWorkspace(place.cwd) ?? findWorkspace(process.cwd());
  if (!found) return;
  if (isEnabled(found)) logTo(found.storeDir);
  const config = loadConfig(found.root, { isTracked: (file) => isTracked(found, file) });
  const workspace = config.project_root ? findWorkspace(config.project_root) : found;
  if (!workspace || !isEnabled(workspace) || !config.enabled) return;
  logTo(workspace.storeDir);
  setLogLevel(config.log_level);
  if (Object.keys(raw).length === 0) log("warn", where, `The payload is no JSON object (${input.length} characters).`);
  const borrower = config.agent === null ? await borrowerOf(named.profile, raw, process.env) : null;
  // Its own hooks tell the same.
  if (borrower !== null && readStore(workspace)?.agents[borrower]) return;
  const agent = await agentFor(config.agent ?? borrower ?? agentId, named, raw, workspace);
  const envelope = toEnvelope(agent.profile, verb, raw);
  const context = contextFor(agent, verb, raw, config.transcript_path);
  const event = toEvent(agent, envelope, context);
  if (!event) {
    const level = knowsEvent(agent.profile, envelope.event) ? "debug" : "info";
    log(level, where, `Nothing follows from the event ${shorten(oneLine(envelope.event.slice(0, 200)), 80)}.`);
    return;
  }
  if (event.type === "SessionStart" && context.envFile !== null) {
    const { writeEnvironment } = await import("./agents/environment.ts");
    writeEnvironment(context, workspace.root);
  }
  const starter = starterOf(event.sessionId, process.env);
  const { notice, background, again } = await dispatch({ workspace, agent, event, context, config, starter });
  if (notice !== null && agent.responder) process.stdout.write(agent.responder.notice(envelope, notice));
  if (background) startWorker(workspace, again);
}

function contextFor(
  agent: Agent,
  verb: string,
  raw: Record<string, unknown>,
  transcript: string | null = null,
): AgentContext {
  const forced = { transcriptPath: transcript ?? undefined };
  return contextOf(agent.profile, toEnvelope(agent.profile, verb, raw), {
    env: process.env,
    cwd: process.cwd(),
    forced,
  });
}

/** Whose child it is: the session in whose shell the agent was started, or the one that `run` names. */
function starterOf(session: string, environment: NodeJS.ProcessEnv): string | null {
  const named = [environment["BACKTRAIL_SESSION_ID"], environment["BACKTRAIL_PARENT_ID"]];
  return named.find((id) => id && id !== session && id.length <= LONGEST_ID && id === oneLine(id)) ?? null;
}

/** By configuration, by the hook's own argument, by what the payload shows; at last nobody in particular. */
async function agentFor(id: string, named: Agent, raw: Record<string, unknown>, workspace: Workspace): Promise<Agent> {
  if (id === named.profile.id) return named;
  const own = await getAgent(id, { root: workspace.root, isTracked: (file) => isTracked(workspace, file) });
  if (own) return own;
  const [{ detectAgent }, agents] = await Promise.all([import("./agents/detect.ts"), listAgents()]);
  const { id: detected } = detectAgent(
    agents.map((agent) => agent.profile),
    { payload: raw, env: process.env, root: workspace.root },
  );
  return (await getAgent(detected)) ?? unknownAgent(isAgentId(id) ? id : undefined);
}
