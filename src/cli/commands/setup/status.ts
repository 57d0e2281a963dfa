/**
 * `status`: reports whether Backtrail is on here, which agents are connected, and which sessions exist. Changes
 * nothing.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { dataDirectory } from "../../../base/paths.ts";
import { oneLine, plural, printable, shortSession, shownPath } from "../../../base/text.ts";
import { checkpointPlaces, isHidden } from "../../../checkpoints/branch/location.ts";
import { isEntireEnabled } from "../../../checkpoints/entire/traces.ts";
import { CHECKPOINT_BRANCH } from "../../../checkpoints/format/layout.ts";
import { findRemote, withoutPassword } from "../../../checkpoints/sync/remote.ts";
import { remoteState, requestedPush } from "../../../checkpoints/sync/state.ts";
import { pendingKeys, readPending } from "../../../checkpoints/write/pending.ts";
import { leftToUser } from "../../../commits/auto-commit.ts";
import type { Config } from "../../../config/load.ts";
import { hasRef } from "../../../git/refs.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { missedAtLastStep } from "../../../recording/notice.ts";
import { listSessions, loadSession, type SessionState } from "../../../recording/session/store.ts";
import { type UserScopeCoverage, userScopeCoverage } from "../../../recording/user-scope/coverage.ts";
import { isExcludedStore } from "../../../recording/user-scope/start.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { described } from "../../render/layout/described.ts";
import { placeOf } from "../../render/layout/location.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { wrapAfter } from "../../render/layout/text.ts";
import { age, until } from "../../render/layout/time.ts";
import { WHY_NOT_CAPTURED } from "../../render/step/step.ts";
import { userScopeText } from "../../render/user-scope.ts";
import { settingsOf, settingsWarnings } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import { type AgentStatus, agentStatus } from "./agent-status.ts";
import type { statusCommand } from "./commands.ts";

const SHOWN_SESSIONS = 8;
const SHOWN_MISSED = 8;
const SHOWN_ROOTS = 3;
/** How agents without hooks are recorded. */
const WITHOUT: Readonly<Record<string, string>> = {
  watched: "recorded while `backtrail watch` runs",
  runs: "recorded by `backtrail run`",
};
const HOOKS: Readonly<Record<string, string>> = { watched: "no hooks", runs: "no hooks", "by-hand": "hooks by hand" };
const SHOWN_LEFT = 10;

const OUTDATED = "The hooks are outdated. Update them with `backtrail enable`.";

export async function run(options: OptionsOf<typeof statusCommand>, io: Io): Promise<undefined> {
  const workspace = findWorkspace(io.cwd);
  const { config, problems } = settingsOf(workspace);
  const userScope = userScopeCoverage(workspace, config);
  const isOff = workspace === undefined || !isEnabled(workspace) || isExcludedStore(workspace, config);
  const enabled = config.enabled && (!isOff || userScope.kind === "recorded");
  const sessions = workspace && isEnabled(workspace) ? listSessions(workspace) : [];
  const agents = workspace ? await agentStatus(workspace, sessions) : [];
  if (options.json) {
    io.json({
      enabled,
      store: { kind: workspace?.kind ?? "private" },
      strategy: config.strategy,
      tier: config.tier,
      agents,
      ...(userScope.kind === "off" ? {} : { userScope }),
      sessions: sessions.map(sessionJson),
      pending: workspace && isEnabled(workspace) ? pendingFiles(workspace) : [],
      ...(workspace && config.strategy === "auto-commit" ? { leftToUser: leftToUser(workspace) } : {}),
      push: {
        enabled: config.push.enabled,
        remote: withoutPassword(config.push.remote),
        ...(await pushState(workspace, config)),
      },
    });
    return;
  }
  for (const warning of settingsWarnings(workspace, problems))
    io.say(`${io.err.paint("yellow", "warning:")} ${warning}`);
  const { paint } = io.out;
  if (workspace && isOff && enabled) {
    io.printMessage(`Recording is ${paint("green", "on")} in ${shownPath(workspace.root)}; nothing is recorded yet.`);
    printUserScope(userScope, io);
    printAgents(agents, io);
    return;
  }
  if (!workspace || isOff) {
    io.printMessage(`Recording is ${paint("yellow", "off")} in ${shownPath(workspace?.root ?? io.cwd)}.`);
    printUserScope(userScope, io);
    io.say("`backtrail enable` turns it on.");
    return;
  }
  const state = config.enabled ? paint("green", "on") : paint("yellow", "off (the setting `enabled` is false)");
  const unheard = isUnheard(agents) ? ", but no agent has called its hooks yet" : "";
  io.printMessage(`Recording is ${state} in ${shownPath(workspace.root)}${config.enabled ? unheard : ""}.`);
  io.printMessage(
    `${stepsText(workspace)}. Tier: ${oneLine(config.tier)}. Checkpoints: ${config.strategy === "auto-commit" ? "auto-commit" : "on commit"}, ${config.push.enabled ? `pushed to ${oneLine(withoutPassword(config.push.remote))}` : "not pushed"}.`,
  );
  printUserScope(userScope, io);
  if (config.strategy === "auto-commit") printLeft(workspace, io);
  if (config.push.enabled) printPush(await pushState(workspace, config), io);
  printNotCaptured(workspace, io);
  printAgents(agents, io);
  printSessions(sessions, workspace, io);
  await printStored(workspace, config.push.enabled, io);
}

/** Whether hooks are all that would record here, and none has been called since they were written. */
function isUnheard(agents: readonly AgentStatus[]): boolean {
  const connected = agents.filter(({ hooks, problems }) => hooks !== "absent" || problems.length > 0);
  return connected.length > 0 && connected.every(({ hooks, heard }) => !(hooks in WITHOUT) && !heard);
}

function printUserScope(coverage: UserScopeCoverage, io: Io): void {
  const text = userScopeText(coverage);
  if (text !== null) io.printMessage(text);
}

/** Lists files that no restore could bring back. */
function printNotCaptured(workspace: Workspace, io: Io): void {
  const missed = missedAtLastStep(workspace);
  if (missed.length === 0) return;
  io.print("");
  io.print(io.out.paint("bold", "Not recorded at the last step"));
  const mark = io.out.paint("yellow", "!");
  for (const { path, why } of missed.slice(0, SHOWN_MISSED))
    for (const line of wrapAfter(`  ${mark} `, `${shownPath(path)}: ${WHY_NOT_CAPTURED[why]}`, io.out.columns))
      io.print(line);
  const left = missed.length - SHOWN_MISSED;
  if (left > 0) io.print(io.out.paint("dim", `  and ${left} more`));
  const advice = "`backtrail config set capture.max_tracked_size` (max_file_size if untracked) raises the limit";
  for (const line of wrapAfter("  ", advice, io.out.columns)) io.print(io.out.paint("dim", line));
}

/** Lists files of turns that auto-commit skipped, because they also contain changes of the user's. */
function printLeft(workspace: Workspace, io: Io): void {
  for (const { path, why } of leftToUser(workspace).slice(0, SHOWN_LEFT))
    io.printMessage(`${io.out.paint("yellow", "!")} auto-commit did not commit ${shownPath(path)}: ${oneLine(why)}.`);
}

function stepsText(workspace: Workspace): string {
  const [here, all] = [
    stepsIn(workspace).list({ worktree: workspace.worktree }).length,
    stepsIn(workspace).list().length,
  ];
  if (workspace.kind === "private")
    return `${plural(here, "step")} in a private store (this folder is not a git repository)`;
  if (here === all) return `${plural(here, "step")} in this repository`;
  return `${plural(here, "step")} in this work tree, ${all} in the repository`;
}

interface PushState {
  pushed: string | null;
  /** Since when a push is pending. */
  waiting: string | null;
  error: { time: string; message: string } | null;
  next: string | null;
}

async function pushState(workspace: Workspace | undefined, { push }: Config): Promise<PushState> {
  const nothing: PushState = { pushed: null, waiting: null, error: null, next: null };
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return nothing;
  const waiting = requestedPush(workspace)?.time ?? null;
  try {
    const state = remoteState(workspace, (await findRemote(workspace, push.remote)).key);
    const { pushed = null, error = null, next = null } = state ?? {};
    return { pushed, waiting, error, next };
  } catch (error) {
    // Without the remote there is nothing to report, unless pushing is enabled.
    if (!push.enabled) return nothing;
    return { ...nothing, waiting, error: { time: waiting ?? now().toISOString(), message: messageOf(error) } };
  }
}

function printPush({ waiting, error, next }: PushState, io: Io): void {
  // Nothing was tried: there is no remote to push to.
  if (error && next === null) io.printMessage(`Checkpoints cannot be pushed: ${oneLine(error.message)}`);
  else if (error) {
    const again = waiting && next ? `; tried again ${until(next, now())}` : "";
    io.printMessage(`The last push of checkpoints failed ${age(error.time, now())}${again}: ${oneLine(error.message)}`);
  } else if (waiting) io.print("Checkpoints are being pushed.");
}

/** Files of each session in this work tree that are not committed yet. */
function pendingFiles(workspace: Workspace): { agent: string; session: string; files: string[] }[] {
  return pendingKeys(workspace).flatMap((key) => {
    const state = loadSession(workspace, key);
    const { files } = readPending(workspace, key);
    return state && files.length > 0 ? [{ agent: state.agent, session: state.id, files }] : [];
  });
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
  const connected = agents.filter(({ hooks, problems }) => hooks !== "absent" || problems.length > 0);
  io.print("");
  io.print(paint("bold", "Agents"));
  if (connected.length === 0) io.print("  none connected; connect agents with `backtrail enable`");
  const rows = connected.map(({ id, hooks, scope, heard, lastHeard, problems, mcp }): Cell[] => [
    { text: id },
    {
      text: HOOKS[hooks] ?? `hooks ${hooks}`,
      paint: (text) => paint(hooks in WITHOUT || (heard && problems.length === 0) ? "green" : "yellow", text),
    },
    {
      text:
        hooks in WITHOUT || hooks === "absent"
          ? ""
          : heard && lastHeard
            ? `last called ${age(lastHeard, now())}`
            : "not called yet",
    },
    {
      text: [
        WITHOUT[hooks] ?? (hooks === "by-hand" ? "hooks installed by hand" : `${scope} scope`),
        ...(mcp === undefined ? [] : [`MCP ${mcp}`]),
      ].join(", "),
    },
  ]);
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  for (const { id, worktrees } of connected.filter((agent) => agent.worktrees.length > 0)) {
    const left = worktrees.length - SHOWN_ROOTS;
    const roots = worktrees.slice(0, SHOWN_ROOTS).map((root) => shownPath(root));
    io.print(paint("dim", `  ${id} is also connected in ${roots.join(", ")}${left > 0 ? ` and ${left} more` : ""}`));
  }
  const advice = connected.some(({ hooks }) => hooks === "outdated") ? [OUTDATED] : [];
  for (const text of [...connected.flatMap(({ problems }) => problems), ...advice]) {
    for (const line of wrapAfter(`  ${paint("yellow", "!")} `, printable(text), io.out.columns)) io.print(line);
  }
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
      { text: shortSession(session.id), paint: (text) => paint("magenta", text) },
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

/** Lists where data is stored and who can see it. */
async function storedPlaces(workspace: Workspace, pushed: boolean): Promise<{ where: string; what: string }[]> {
  const vault = join(dataDirectory(), "redaction");
  const store = placeOf(workspace.storeDir, workspace.root);
  return [
    {
      where: workspace.kind === "repository" ? `${store}, refs/backtrail` : store,
      what: "steps and conversations, only on this machine",
    },
    ...(workspace.kind === "repository" ? await checkpointsStored(workspace, pushed) : []),
    ...(existsSync(vault) ? [{ where: placeOf(vault, null), what: "redacted secrets, encrypted" }] : []),
  ];
}

async function checkpointsStored(workspace: Workspace, pushed: boolean): Promise<{ where: string; what: string }[]> {
  const whoPushes = (await isEntireEnabled(workspace)) ? "Entire's hook pushes it" : "`git push --all` pushes it";
  return checkpointPlaces(workspace)
    .filter((place) => hasRef(place, CHECKPOINT_BRANCH))
    .map((place) => {
      if (isHidden(place))
        return {
          where: placeOf(place.gitDir, workspace.root),
          what: "behind commits: redacted, not pushed",
        };
      const fate = pushed ? "redacted, pushed with yours" : whoPushes;
      return { where: CHECKPOINT_BRANCH.slice("refs/heads/".length), what: `behind commits: ${fate}` };
    });
}

async function printStored(workspace: Workspace, pushed: boolean, io: Io): Promise<void> {
  const { paint } = io.out;
  io.print("");
  io.print(paint("bold", "Stored"));
  const places = (await storedPlaces(workspace, pushed)).map(({ where, what }) => [where, what] as const);
  for (const line of described(places, io.out.columns, { indent: 2 })) io.print(line);
  const advice = "delete a conversation with `backtrail forget`, old steps with `backtrail clean`";
  for (const line of wrapAfter("  ", advice, io.out.columns)) io.print(paint("dim", line));
}

function phaseWord(session: SessionState): string {
  if (session.phase === "ENDED") return "ended";
  return session.phase === "IDLE" ? "waiting" : "working";
}
