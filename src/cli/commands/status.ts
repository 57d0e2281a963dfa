/** `status`: whether Backtrail is on here, which agents are connected, which sessions there are. Changes nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { inspectAll } from "../../agents/install.ts";
import type { Scope } from "../../agents/profile.ts";
import { capabilitiesOf, listAgents } from "../../agents/registry.ts";
import { now } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { dataDirectory } from "../../base/paths.ts";
import { oneLine, plural, shownPath } from "../../base/text.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/layout.ts";
import { pendingKeys, readPending } from "../../checkpoints/pending.ts";
import { findRemote, withoutPassword } from "../../checkpoints/sync/remote.ts";
import { remoteState, wishedPush } from "../../checkpoints/sync/state.ts";
import type { Config } from "../../config/load.ts";
import { hasRef } from "../../git/refs.ts";
import { findWorkspace, isEnabled, readStore, type Workspace } from "../../git/workspace.ts";
import { listSessions, loadSession, type SessionState } from "../../lifecycle/session-state.ts";
import { listSteps } from "../../steps/list.ts";
import { ownExecutable } from "../executable.ts";
import type { Io } from "../io.ts";
import { placeOf } from "../render/place.ts";
import { type Cell, table } from "../render/table.ts";
import { age, until } from "../render/time.ts";
import { problemText, settingsOf } from "../settings.ts";

const SHOWN_SESSIONS = 8;

interface AgentStatus {
  id: string;
  hooks: "installed" | "absent" | "outdated" | "watched";
  scope: Scope | null;
}

const ADVICE: Readonly<Record<string, string>> = {
  outdated: "`backtrail enable` brings them up to date",
  watched: "recorded while `backtrail watch` runs",
};

export async function run(options: { json?: boolean }, io: Io): Promise<undefined> {
  const workspace = findWorkspace(io.cwd);
  const { config, problems } = settingsOf(workspace);
  const enabled = workspace !== undefined && isEnabled(workspace) && config.enabled;
  const agents = workspace ? await agentStatus(workspace) : [];
  const sessions = workspace && isEnabled(workspace) ? listSessions(workspace) : [];
  if (options.json) {
    io.json({
      enabled,
      store: { kind: workspace?.kind ?? "private" },
      strategy: config.strategy,
      tier: config.tier,
      agents,
      sessions: sessions.map(sessionJson),
      pending: workspace && isEnabled(workspace) ? pendingFiles(workspace) : [],
      push: {
        enabled: config.push.enabled,
        remote: withoutPassword(config.push.remote),
        ...(await pushState(workspace, config)),
      },
    });
    return;
  }
  for (const problem of problems)
    io.say(`${io.err.paint("yellow", "warning:")} ${problemText(problem, workspace?.root ?? null)}`);
  const { paint } = io.out;
  if (!workspace || !isEnabled(workspace)) {
    io.print(`Recording is ${paint("yellow", "off")} in ${shownPath(workspace?.root ?? io.cwd)}.`);
    io.say("`backtrail enable` turns it on.");
    return;
  }
  const state = config.enabled ? paint("green", "on") : paint("yellow", "off (the setting `enabled` is false)");
  io.print(`Recording is ${state} in ${shownPath(workspace.root)}.`);
  io.print(
    `${stepsText(workspace)}; tier ${oneLine(config.tier)}, ${config.strategy}, push ${config.push.enabled ? `to ${oneLine(withoutPassword(config.push.remote))}` : "off"}.`,
  );
  if (config.push.enabled) printPush(await pushState(workspace, config), io);
  printAgents(agents, io);
  printSessions(sessions, workspace, io);
  printStored(workspace, config.push.enabled, io);
}

function stepsText(workspace: Workspace): string {
  const [here, all] = [listSteps(workspace).length, listSteps(workspace, { all: true }).length];
  if (workspace.kind === "private")
    return `${plural(here, "step")} in a private store (this folder is no git repository)`;
  if (here === all) return `${plural(here, "step")} in this repository`;
  return `${plural(here, "step")} in this work tree, ${all} in the repository`;
}

interface PushState {
  pushed: string | null;
  /** Since when a push waits to be made. */
  waiting: string | null;
  error: { time: string; message: string } | null;
  next: string | null;
}

async function pushState(workspace: Workspace | undefined, { push }: Config): Promise<PushState> {
  const nothing: PushState = { pushed: null, waiting: null, error: null, next: null };
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return nothing;
  const waiting = wishedPush(workspace)?.time ?? null;
  try {
    const state = remoteState(workspace, (await findRemote(workspace, push.remote)).key);
    const { pushed = null, error = null, next = null } = state ?? {};
    return { pushed, waiting, error, next };
  } catch (error) {
    // A repository that has no such remote has nothing to fail, until it is to be pushed to.
    if (!push.enabled) return nothing;
    return { ...nothing, waiting, error: { time: waiting ?? now().toISOString(), message: messageOf(error) } };
  }
}

function printPush({ waiting, error, next }: PushState, io: Io): void {
  // Nothing has been tried: there is nowhere to push to.
  if (error && next === null) io.print(`Checkpoints cannot be pushed: ${oneLine(error.message)}`);
  else if (error) {
    const again = waiting && next ? `; tried again ${until(next, now())}` : "";
    io.print(`The last push of checkpoints failed ${age(error.time, now())}${again}: ${oneLine(error.message)}`);
  } else if (waiting) io.print("Checkpoints are being pushed.");
}

/** Files of each session in this work tree that no commit has taken yet. */
function pendingFiles(workspace: Workspace): { agent: string; session: string; files: string[] }[] {
  return pendingKeys(workspace).flatMap((key) => {
    const state = loadSession(workspace, key);
    const { files } = readPending(workspace, key);
    return state && files.length > 0 ? [{ agent: state.agent, session: state.id, files }] : [];
  });
}

async function agentStatus(workspace: Workspace): Promise<AgentStatus[]> {
  const record = readStore(workspace);
  const executable = ownExecutable();
  const result: AgentStatus[] = [];
  for (const agent of await listAgents()) {
    const { profile } = agent;
    if (agent.watcher && record?.agents[profile.id]) result.push({ id: profile.id, hooks: "watched", scope: "local" });
    if (!capabilitiesOf(agent).hooks) continue;
    const found = inspectAll(agent, { workspace, executable });
    const recorded = record?.agents[profile.id]?.scope;
    const best =
      found.find(({ scope, state }) => scope === recorded && state !== "absent") ??
      found.find(({ state }) => state === "installed") ??
      found.find(({ state }) => state === "outdated");
    result.push({ id: profile.id, hooks: best?.state ?? "absent", scope: best?.scope ?? null });
  }
  return result;
}

function sessionJson(session: SessionState) {
  return {
    id: session.id,
    agent: session.agent,
    phase: session.phase,
    turns: session.turn,
    steps: session.steps,
    transcript: session.transcript?.path ?? null,
    parent: session.parent,
  };
}

function printAgents(agents: readonly AgentStatus[], io: Io): void {
  const { paint } = io.out;
  const connected = agents.filter(({ hooks }) => hooks !== "absent");
  io.print("");
  io.print(paint("bold", "Agents"));
  if (connected.length === 0) io.print("  none connected; `backtrail enable` connects those it finds");
  const rows = connected.map(({ id, hooks, scope }): Cell[] => [
    { text: id },
    {
      text: hooks === "watched" ? "no hooks" : `hooks ${hooks}`,
      paint: (text) => paint(hooks === "outdated" ? "yellow" : "green", text),
    },
    { text: ADVICE[hooks] ?? `${scope} scope` },
  ]);
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
}

function printSessions(sessions: readonly SessionState[], workspace: Workspace, io: Io): void {
  const { paint } = io.out;
  io.print("");
  io.print(paint("bold", "Sessions"));
  const here = sessions.filter(({ worktree }) => worktree === workspace.worktree);
  if (here.length === 0) io.print("  none yet");
  const rows = here
    .slice(0, SHOWN_SESSIONS)
    .map((session): Cell[] => [
      { text: oneLine(session.id).slice(0, 8), paint: (text) => paint("magenta", text) },
      { text: oneLine(session.agent) },
      { text: phaseWord(session), paint: (text) => paint(session.phase === "ENDED" ? "dim" : "green", text) },
      { text: plural(session.turn, "turn") },
      { text: age(session.updatedAt, now()) },
      { text: oneLine(session.title ?? "") },
    ]);
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  const left = here.length - rows.length;
  if (left > 0) io.print(paint("dim", `  and ${plural(left, "older session")}`));
  const elsewhere = sessions.length - here.length;
  if (elsewhere > 0) io.print(paint("dim", `  ${plural(elsewhere, "session")} in other worktrees`));
}

/** Where everything is, and who can see it. */
function storedPlaces(workspace: Workspace, pushed: boolean): { where: string; what: string }[] {
  const vault = join(dataDirectory(), "redaction");
  const hasCheckpoints = workspace.kind === "repository" && hasRef(workspace, CHECKPOINT_BRANCH);
  const branch = CHECKPOINT_BRANCH.slice("refs/heads/".length);
  const store = placeOf(workspace.storeDir, workspace.root);
  return [
    {
      where: workspace.kind === "repository" ? `${store}, refs/backtrail` : store,
      what: "steps and conversations, only on this machine",
    },
    ...(hasCheckpoints
      ? [{ where: branch, what: `behind commits: redacted, ${pushed ? "pushed with yours" : "not pushed"}` }]
      : []),
    ...(existsSync(vault) ? [{ where: placeOf(vault, null), what: "what was redacted, encrypted" }] : []),
  ];
}

function printStored(workspace: Workspace, pushed: boolean, io: Io): void {
  const { paint } = io.out;
  io.print("");
  io.print(paint("bold", "Stored"));
  const rows = storedPlaces(workspace, pushed).map(({ where, what }): Cell[] => [{ text: where }, { text: what }]);
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  io.print(paint("dim", "  `backtrail forget` removes a conversation, `backtrail clean` what is old"));
}

function phaseWord(session: SessionState): string {
  if (session.phase === "ENDED") return "ended";
  return session.phase === "IDLE" ? "waiting" : "working";
}
