/**
 * Turns recording on and off: creates the store, installs the agents' hooks, and records the changes so that `disable`
 * can revert them. Recorded data survives `disable`.
 */

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, parse, relative } from "node:path";
import type { Agent } from "../agents/contract/agent.ts";
import type { Scope } from "../agents/contract/profile.ts";
import { connectionOf } from "../agents/hooks/connection.ts";
import { type InstallReport, installedRoots, uninstall } from "../agents/hooks/install.ts";
import { hookObstacles } from "../agents/hooks/obstacles.ts";
import { capabilitiesOf, getAgent, listAgents, requireAgent } from "../agents/registry/registry.ts";
import { now } from "../base/clock.ts";
import { messageOf, UserError } from "../base/errors.ts";
import { removeFile } from "../base/fs/files.ts";
import { homeDirectory, isInside } from "../base/paths.ts";
import { findProgram } from "../base/process/program.ts";
import { shownPath } from "../base/text.ts";
import { type EntireTraces, findEntire } from "../checkpoints/entire/traces.ts";
import { installGitHooks, removeGitHooks } from "../checkpoints/git-hooks/install.ts";
import { markPush } from "../commits/push.ts";
import { loadConfig, ownFile } from "../config/load.ts";
import { unsetValue } from "../config/write.ts";
import { scanIgnored } from "../git/ignored/scan.ts";
import { tryGit } from "../git/run.ts";
import {
  createWorkspace,
  findWorkspace,
  isEnabled,
  readStore,
  type StoreRecord,
  type Workspace,
  writeStore,
} from "../git/workspace.ts";
import { hasTraces } from "../maintenance/doctor/checks/entire.ts";
import { type PlaceCoverage, placeCoverage, userScopeCoverage } from "../recording/user-scope/coverage.ts";
import { connect } from "./connect.ts";
import { connectCommands, connectServer, disconnectExtras } from "./extras.ts";
import { SetupError } from "./problems.ts";
import { connectEverywhere, excludeRepository, refuseEverywhere } from "./user-scope/connect.ts";
import { outsideWorkspace } from "./user-scope/outside.ts";

export interface EnableOptions {
  /** Ids or short names; by default, the agents found here. */
  agents?: readonly string[];
  scope?: Scope;
  /** The absolute path by which hooks call Backtrail. */
  executable: string;
  /** Used if no agent is found. */
  defaultAgent: string;
  /** The user's consent to run the hooks, for agents that require a review. */
  trust?: boolean;
  /** Also let the agents start our MCP server. */
  mcp?: boolean;
  /** Also add our commands to the agents' own. */
  commands?: boolean;
  /** Remove and reinstall existing hooks. */
  force?: boolean;
}

export interface EnableReport {
  workspace: Workspace;
  /** Every repository of the user is now recorded (`--scope user`). */
  everywhere: boolean;
  /** Whether this location is recorded: `--scope user` excludes some. */
  here: PlaceCoverage["kind"];
  /** Whether Backtrail was already enabled here. */
  wasEnabled: boolean;
  installed: InstallReport[];
  failed: { agent: string; message: string; hint: string | undefined }[];
  /** How the agents were chosen. */
  chosenBecause: "named" | "found" | "default";
  /** Why each agent was found. */
  found: { agent: string; because: string }[];
  /** What the Entire CLI has here; null if there is no trace of it. */
  entire: EntireTraces | null;
  /** Why an agent will not call its installed hooks. */
  obstacles: { agent: string; message: string; hint: string }[];
}

export interface DisableReport {
  workspace: Workspace;
  removed: InstallReport[];
  failed: { agent: string; message: string }[];
  /** Agents that stay connected. */
  left: string[];
  /** `enable --scope user` no longer records this repository; its hooks stay for the others. */
  excluded: boolean;
}

export async function enable(cwd: string, options: EnableOptions): Promise<EnableReport> {
  const everywhere = options.scope === "user";
  const around = findWorkspace(cwd);
  const here = everywhere ? placeCoverage(around, loadConfig(around ?? null).scope.exclude).kind : "recorded";
  if (here === "recorded") {
    refuseWholeHome(cwd);
    await refuseOtherPlace(cwd);
  }
  const { agents, because, found } = await chooseAgents(cwd, options);
  const workspace = here === "recorded" ? await createWorkspace(cwd) : (around ?? outsideWorkspace(cwd));
  const wasEnabled = isEnabled(workspace);
  // An earlier `disable` may have set it to false.
  if (here === "recorded") unsetValue(ownFile(workspace), "local", "enabled");
  const record = readStore(workspace) ?? { v: 1, enabledAt: now().toISOString(), agents: {} };
  const report: EnableReport = {
    workspace,
    everywhere,
    here,
    wasEnabled,
    installed: [],
    failed: [],
    chosenBecause: because,
    found,
    entire: null,
    obstacles: [],
  };
  const within = (file: string) => shownPath(isInside(workspace.root, file) ? relative(workspace.root, file) : file);
  for (const agent of agents) {
    try {
      const { executable, trust = false } = options;
      const known = record.agents[agent.profile.id]?.scope;
      // A shared setting stays shared until the user names another scope.
      const scope = options.scope ?? (known === "project" ? known : "local");
      if (options.force && connectionOf(agent) === "hooks" && isScope(known))
        await uninstall(agent, known, { workspace, executable });
      const done = everywhere
        ? await connectEverywhere(agent, (holder) => connect(agent, "user", { workspace, executable, trust, holder }))
        : await connect(agent, scope, { workspace, executable, trust });
      report.installed.push(done);
      const before = record.agents[agent.profile.id];
      const mcp = await connectServer(agent, done, options, workspace, before?.mcp);
      const commands = await connectCommands(agent, done, options, workspace, before?.commands);
      if (done.unanswered) report.failed.push({ agent: agent.profile.id, ...done.unanswered });
      // The notes already cover reviews.
      for (const { kind, message, hint } of await hookObstacles(agent, done.scope, { workspace, executable }, within))
        if (kind !== "review") report.obstacles.push({ agent: agent.profile.id, message, hint });
      remember(record, done, everywhere, { mcp, commands });
      // Write after each agent: if the next one fails or the process is killed, `disable` knows about this one.
      if (here === "recorded") writeStore(workspace, record);
    } catch (error) {
      const hint = error instanceof UserError ? error.hint : undefined;
      if (agents.length === 1) throw error;
      report.failed.push({ agent: agent.profile.id, message: messageOf(error), hint });
    }
  }
  if (report.installed.length > 0 && here !== "recorded") return report;
  if (report.installed.length > 0) {
    report.installed[0]?.notes.push(...(await linkCommits(workspace, options.executable)));
    const entire = await findEntire(workspace);
    if (hasTraces(entire)) report.entire = entire;
    await markPush(workspace);
    await scanIgnored(workspace);
    return report;
  }
  throw new SetupError("failed", {
    kind: "agents-not-connected",
    failed: report.failed.map(({ agent, message }) => ({ agent, message })),
  });
}

export async function disable(
  cwd: string,
  options: { agents?: readonly string[]; executable: string },
): Promise<DisableReport> {
  const workspace = findWorkspace(cwd);
  const covered = userScopeCoverage(workspace, loadConfig(workspace ?? null)).kind === "recorded";
  if (options.agents) await refuseEverywhere(options.agents);
  if (workspace && !isEnabled(workspace) && covered) {
    excludeRepository(workspace);
    return { workspace, removed: [], failed: [], left: [], excluded: true };
  }
  if (!workspace || !isEnabled(workspace)) {
    throw new SetupError("not-found", { kind: "not-enabled" });
  }
  const record = readStore(workspace);
  if (!record) {
    throw new SetupError("failed", { kind: "store-record-damaged" });
  }
  const chosen = options.agents ? await namedAgents(options.agents, record) : Object.keys(record.agents);
  const report: DisableReport = { workspace, removed: [], failed: [], left: [], excluded: false };
  for (const id of chosen) {
    try {
      const done = await disconnect(id, record, workspace, options.executable);
      if (done) report.removed.push(done);
      delete record.agents[id];
    } catch (error) {
      report.failed.push({ agent: id, message: messageOf(error) });
    }
  }
  report.left = Object.keys(record.agents);
  if (report.left.length === 0 && covered) {
    excludeRepository(workspace);
    report.excluded = true;
  }
  if (report.left.length === 0) {
    const notes = await unlinkCommits(workspace);
    report.removed[0]?.notes.push(...notes);
  }
  // Delete the store's record last: it lists where hooks remain.
  if (report.left.length === 0) removeFile(join(workspace.storeDir, "store.json"));
  else writeStore(workspace, record);
  return report;
}

/** Recording works without git's hooks, so a failure to install them is only reported. */
async function linkCommits(workspace: Workspace, executable: string): Promise<string[]> {
  try {
    return (await installGitHooks(workspace, executable)).notes;
  } catch (error) {
    return [`Commits are not linked to their conversations: ${messageOf(error)}`];
  }
}

async function unlinkCommits(workspace: Workspace): Promise<string[]> {
  try {
    return await removeGitHooks(workspace);
  } catch (error) {
    return [`git's hooks could not be restored: ${messageOf(error)}`];
  }
}

export interface FoundAgent {
  agent: Agent;
  because: string;
}

/** Agents that seem to be in use: their program is installed, or this folder contains their files. */
export async function agentsFound(root: string): Promise<FoundAgent[]> {
  const agents = (await listAgents()).filter((agent) => capabilitiesOf(agent).hooks || agent.watcher);
  const found = foundBy(agents, (agent) => whyHere(agent, root));
  // A directory in the user's home may be an old leftover: use it only if nothing else was found.
  return found.length > 0 ? found : foundBy(agents, whyAtHome);
}

function foundBy(agents: readonly Agent[], why: (agent: Agent) => string | undefined): FoundAgent[] {
  return agents.flatMap((agent) => {
    const because = why(agent);
    return because === undefined ? [] : [{ agent, because }];
  });
}

function whyHere({ profile, watcher }: Agent, root: string): string | undefined {
  const { executable, hooks, detection } = profile;
  if (executable && findProgram(executable) !== null) return `${executable} is on PATH`;
  const files = [hooks?.settings.local?.path, hooks?.settings.project?.path, watcher?.file];
  const directories = detection.score_rules.map((rule) => rule.dir_exists);
  const path = [...files, ...directories].find((place) => place !== undefined && existsSync(join(root, place)));
  return path === undefined ? undefined : `${path} is here`;
}

function whyAtHome({ profile }: Agent): string | undefined {
  const own = profile.hooks?.settings.user;
  const home = homeDirectory();
  if (!own?.path || dirname(own.path) === "." || !existsSync(join(home, dirname(own.path)))) return undefined;
  return `~/${dirname(own.path)} is there`;
}

async function chooseAgents(
  cwd: string,
  options: EnableOptions,
): Promise<{ agents: Agent[]; because: EnableReport["chosenBecause"]; found: EnableReport["found"] }> {
  if (options.agents && options.agents.length > 0) {
    const agents = await Promise.all(options.agents.map((name) => requireAgent(name)));
    const unique = agents.filter(
      (agent, i) => agents.findIndex((other) => other.profile.id === agent.profile.id) === i,
    );
    return { agents: unique, because: "named", found: [] };
  }
  const found = await agentsFound(findWorkspace(cwd)?.root ?? cwd);
  if (found.length === 0) {
    return { agents: [await requireAgent(options.defaultAgent)], because: "default", found: [] };
  }
  return {
    agents: found.map(({ agent }) => agent),
    because: "found",
    found: found.map(({ agent, because }) => ({ agent: agent.profile.id, because })),
  };
}

interface Extras {
  mcp: string | undefined;
  commands: string | undefined;
}

function remember(record: StoreRecord, done: InstallReport, everywhere: boolean, extras: Extras): void {
  const before = record.agents[done.agent];
  const files = new Set([...(before?.scope === done.scope ? before.files : []), ...done.files.map(({ file }) => file)]);
  const isUnchanged = before?.scope === done.scope && done.files[0]?.action === "unchanged";
  // Reinstalled hooks must prove again that the agent calls them.
  const since = isUnchanged ? (before.since ?? record.enabledAt) : now().toISOString();
  const isEverywhere = everywhere && done.scope === "user";
  record.agents[done.agent] = {
    scope: done.scope,
    files: [...files],
    since,
    ...(extras.mcp !== undefined && { mcp: extras.mcp }),
    ...(extras.commands !== undefined && { commands: extras.commands }),
    ...(isEverywhere && { everywhere: true as const }),
  };
}

/** Removes the hooks from every work tree of the repository; null if there are no hooks to remove here. */
async function disconnect(
  id: string,
  record: StoreRecord,
  workspace: Workspace,
  executable: string,
): Promise<InstallReport | null> {
  const scope = record.agents[id]?.scope;
  const agent = await getAgent(id);
  if (!agent) throw new SetupError("failed", { kind: "profile-gone", agent: id });
  if (!isScope(scope) || record.agents[id]?.everywhere) return null;
  const by = connectionOf(agent);
  if (by !== "hooks") {
    const instead = by === "none" ? {} : { instead: { by, commands: [] } };
    return { agent: id, scope, files: [], notes: [], ...instead };
  }
  const roots = new Set([workspace.root, ...(scope === "user" ? [] : installedRoots(agent.profile, { workspace }))]);
  const reports: InstallReport[] = [];
  const removed = await disconnectExtras(agent, record.agents[id] ?? {}, [...roots], { workspace, executable });
  for (const root of roots) {
    reports.push(await uninstall(agent, scope, { workspace: { ...workspace, root }, executable }));
  }
  return {
    agent: id,
    scope,
    files: [...removed, ...reports.flatMap(({ files }) => files)],
    notes: reports.flatMap(({ notes }) => notes),
  };
}

async function namedAgents(names: readonly string[], record: StoreRecord): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const id = Object.hasOwn(record.agents, name) ? name : (await requireAgent(name)).profile.id;
    if (!Object.hasOwn(record.agents, id)) {
      throw new SetupError("not-found", {
        kind: "agent-not-connected",
        agent: id,
        connected: Object.keys(record.agents),
      });
    }
    ids.push(id);
  }
  return ids;
}

function isScope(text: string | undefined): text is Scope {
  return text === "local" || text === "project" || text === "user";
}

/** Backtrail records a folder without git completely: a home directory or a whole disk would be too large. */
function refuseWholeHome(cwd: string): void {
  if (findWorkspace(cwd)) return;
  const folder = realpathSync(cwd);
  const isHome = [process.env["HOME"], homedir()].some(
    (home) => home && existsSync(home) && realpathSync(home) === folder,
  );
  if (!isHome && folder !== parse(folder).root) return;
  throw new SetupError("refused", { kind: "folder-too-large", folder, isHome });
}

/** Refuses a bare repository, or one whose work tree is elsewhere: git does not track the files here. */
async function refuseOtherPlace(cwd: string): Promise<void> {
  const ask = async (question: string) => {
    const { code, stdout } = await tryGit(["rev-parse", question], { cwd });
    return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : undefined;
  };
  if ((await ask("--is-bare-repository")) === "true") {
    throw new SetupError("refused", { kind: "bare-repository", directory: realpathSync(cwd) });
  }
  const found = findWorkspace(cwd);
  const top = found?.kind === "repository" ? await ask("--show-toplevel") : undefined;
  if (!found || !top || realpathSync(top) === found.root) return;
  throw new SetupError("refused", { kind: "work-tree-elsewhere", repository: found.root, workTree: top });
}
