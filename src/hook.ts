/**
 * Runs a hook: reads the payload, dispatches the event, writes the reply. Imports as little as possible, finishes in
 * bounded time and always succeeds: errors go to the log, and the agent continues.
 */
import { existsSync } from "node:fs";
import type { Agent } from "./agents/contract/agent.ts";
import { isAgentId } from "./agents/contract/profile.ts";
import { actualAgent } from "./agents/registry/hook-origin.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "./agents/registry/normalize.ts";
import { knowsEvent } from "./agents/registry/profile-events.ts";
import { getAgent, listAgents, unknownAgent } from "./agents/registry/registry.ts";
import { mayRead } from "./agents/registry/transcript-paths.ts";
import { sessionKey } from "./base/ids.ts";
import { log, logError, logTo, setLogLevel } from "./base/log.ts";
import { userScopeFile } from "./base/paths.ts";
import { readInput } from "./base/process/stdin.ts";
import { oneLine, shorten } from "./base/text.ts";
import { type Config, loadConfig } from "./config/load.ts";
import { endRunningGit } from "./git/run.ts";
import { findWorkspace, isEnabled, readStore, type Workspace } from "./git/workspace.ts";
import type { AgentContext } from "./model/event.ts";
import { dispatch } from "./recording/dispatcher.ts";
import { noteHeard } from "./recording/session/last-heard.ts";
import { loadSession } from "./recording/session/store.ts";
import { startWorker } from "./recording/start-worker.ts";

/** Agents time out hooks: a prompt hook after 30 s, a session-end hook after 10 s. */
const MAX_MS = 20_000;
const MAX_AT_SESSION_END_MS = 8_000;
const MAX_ID = 200;

/** `argv` holds the arguments after `hooks`: the agent, the verb, and for some agents the payload. */
export async function runHook(argv: readonly string[]): Promise<void> {
  // Do not record agents that Backtrail itself runs.
  if (process.env["BACKTRAIL_HOOKS"] === "off") return;
  const [agentId = "", verb = ""] = argv;
  const longest = verb.includes("session-end") ? MAX_AT_SESSION_END_MS : MAX_MS;
  // The arguments are untrusted: shorten and sanitize them for the log.
  const where = `hook ${shorten(oneLine(`${agentId} ${verb}`.slice(0, 200)), 80)}`;
  const watchdog = setTimeout(() => {
    logError(where, `It took longer than ${longest} ms and was given up.`);
    endRunningGit();
    process.exit(0);
  }, longest);
  try {
    if (agentId === "git") {
      if (verb.includes("commit"))
        await (await import("./commits/hooks.ts")).runGitHook(verb, argv.slice(2), askTerminal);
      else if (verb === "pre-push") (await import("./commits/push.ts")).beforePush(process.cwd());
      else if (verb === "unasked-push")
        process.stdout.write((await import("./commits/push.ts")).unaskedPush(process.cwd()));
    } else if (agentId === "record") {
      await (await import("./agents/authoring/capture/capture.ts")).captureHook(argv.slice(1));
    } else await handle(agentId, verb, argv, where);
  } catch (error) {
    logError(where, error);
  }
  clearTimeout(watchdog);
}

/** Loads the module only if a commit needs a question. */
async function askTerminal(question: string, seconds: number): Promise<boolean | null> {
  return (await import("./cli/terminal/terminal-question.ts")).askTerminal(question, seconds);
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
  const config = loadConfig(found);
  const workspace = config.project_root ? findWorkspace(config.project_root) : found;
  if (!workspace || !config.enabled) return;
  if (!isEnabled(workspace)) {
    if (!existsSync(userScopeFile())) return;
    const { startUserScopeStore } = await import("./recording/user-scope/start.ts");
    if (!(await startUserScopeStore(workspace, config, named.profile.id))) return;
  } else if (config.scope.exclude.length > 0) {
    const { isExcludedStore } = await import("./recording/user-scope/start.ts");
    if (isExcludedStore(workspace, config)) return;
  }
  logTo(workspace.storeDir);
  setLogLevel(config.log_level);
  if (Object.keys(raw).length === 0) log("warn", where, `Payload is not a JSON object (${input.length} characters).`);
  const borrower = config.agent === null ? await actualAgent(named.profile, raw, process.env) : null;
  // That agent's own hooks report the same event.
  if (borrower !== null && readStore(workspace)?.agents[borrower]) return;
  const given = { payload: raw, transcriptPath: config.transcript_path ?? place.transcriptPath };
  const agent = await agentFor(config.agent ?? borrower ?? agentId, named, given, workspace, config);
  noteHeard(workspace, agent.profile.id);
  const envelope = toEnvelope(agent.profile, verb, raw);
  const refused = new Set<string>();
  const allowed = { profiles: [agent.profile], storeDir: workspace.storeDir, more: config.transcript_paths };
  const context = {
    ...contextFor(agent, verb, raw, config.transcript_path, (path) => {
      const isAllowed = mayRead(path, allowed);
      if (!isAllowed) refused.add(path);
      return isAllowed;
    }),
    metadata: (id: string) => loadSession(workspace, sessionKey(agent.profile.id, id))?.metadata ?? {},
  };
  const event = toEvent(agent, envelope, context);
  if (!event) {
    const level = knowsEvent(agent.profile, envelope.event) ? "debug" : "info";
    log(level, where, `Ignored event ${shorten(oneLine(envelope.event.slice(0, 200)), 80)}.`);
    return;
  }
  // An adapter may know a better path than the payload's: then the payload's path does not matter.
  if (event.transcriptPath !== null && place.transcriptPath !== null) refused.delete(place.transcriptPath);
  for (const path of refused) log("warn", "transcript", notRead(path, agent.profile.display_name));
  if (event.type === "SessionStart" && context.envFile !== null) {
    const { writeEnvironment } = await import("./agents/registry/environment.ts");
    writeEnvironment(context, workspace.root);
  }
  const run = process.env["BACKTRAIL_RUN"];
  if (run && agent.profile.run?.stream.session_from === "hooks") {
    (await import("./recording/run-session.ts")).tellRun(workspace.storeDir, run, event.sessionId);
  }
  const starter = starterOf(event.sessionId, process.env);
  const {
    notice,
    background,
    again,
    context: pending,
  } = await dispatch({ workspace, agent, event, context, config, starter });
  const words = [event.message, notice].filter(Boolean).join("\n");
  let reply = words !== "" && agent.responder ? agent.responder.notice(envelope, words) : "";
  const shape = agent.profile.hooks?.context_reply;
  if (shape && pending && pending.text !== null) {
    const { withContext } = await import("./agents/hooks/context-reply.ts");
    reply = withContext(shape, envelope.event, pending.text, reply);
  }
  if (reply !== "") process.stdout.write(reply);
  pending?.remove();
  if (background) startWorker(workspace, again);
}

function contextFor(
  agent: Agent,
  verb: string,
  raw: Record<string, unknown>,
  transcript: string | null = null,
  mayReadIt?: (path: string) => boolean,
): AgentContext {
  const forced = { transcriptPath: transcript ?? undefined };
  return contextOf(agent.profile, toEnvelope(agent.profile, verb, raw), {
    env: process.env,
    cwd: process.cwd(),
    forced,
    ...(mayReadIt ? { mayRead: mayReadIt } : {}),
  });
}

function notRead(path: string, agent: string): string {
  const shown = shorten(oneLine(path), 80);
  return `${shown} is not where ${agent} keeps transcripts: not read, only code is recorded (see transcript_paths).`;
}

/** The parent session: the one whose shell started the agent, or the one that `run` names. */
function starterOf(session: string, environment: NodeJS.ProcessEnv): string | null {
  const named = [environment["BACKTRAIL_SESSION_ID"], environment["BACKTRAIL_PARENT_ID"]];
  return named.find((id) => id && id !== session && id.length <= MAX_ID && id === oneLine(id)) ?? null;
}

interface Given {
  payload: Record<string, unknown>;
  transcriptPath: string | null;
}

/** Finds the agent by id, or else by the payload, the environment or the transcript; otherwise an unknown agent. */
async function agentFor(id: string, named: Agent, given: Given, workspace: Workspace, config: Config): Promise<Agent> {
  if (id === named.profile.id) return named;
  const own = await getAgent(id, workspace);
  if (own) return own;
  const [{ detectAgent, readStart }, agents] = await Promise.all([import("./agents/registry/detect.ts"), listAgents()]);
  const { transcriptPath: path } = given;
  const profiles = agents.map((agent) => agent.profile);
  const allowed = { profiles, storeDir: workspace.storeDir, more: config.transcript_paths };
  const { id: detected } = detectAgent(profiles, {
    ...given,
    env: process.env,
    root: workspace.root,
    readTranscript: () =>
      path !== null && (path === config.transcript_path || mayRead(path, allowed)) ? readStart(path) : undefined,
  });
  return (await getAgent(detected)) ?? unknownAgent(isAgentId(id) ? id : undefined);
}
