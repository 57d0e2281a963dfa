/**
 * Turning recording on and off: the store is made, the agents' hooks are put in place, and what was done is
 * written down so that it can be undone. What was recorded outlives `disable`.
 */
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, parse } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { type InstallOptions, type InstallReport, install, installedRoots, uninstall } from "../agents/install.ts";
import type { Scope } from "../agents/profile.ts";
import { capabilitiesOf, getAgent, listAgents, requireAgent } from "../agents/registry.ts";
import { now } from "../base/clock.ts";
import { messageOf, UserError } from "../base/errors.ts";
import { removeFile } from "../base/files.ts";
import { installGitHooks, removeGitHooks } from "../checkpoints/git-hooks.ts";
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
import { markPush } from "./pushing.ts";

export interface EnableOptions {
  /** Ids or short names; those found here where none are given. */
  agents?: readonly string[];
  scope?: Scope;
  /** The absolute path by which hooks call us. */
  executable: string;
  /** Taken where no agent is found. */
  defaultAgent: string;
  /** The user's word that the hooks may run, for agents that want them reviewed. */
  trust?: boolean;
}

export interface EnableReport {
  workspace: Workspace;
  /** Whether Backtrail was on here before. */
  wasEnabled: boolean;
  installed: InstallReport[];
  failed: { agent: string; message: string; hint: string | undefined }[];
  /** Why these agents, where nobody named them. */
  chosenBecause: "named" | "found" | "default";
  /** How each of them was found. */
  found: { agent: string; because: string }[];
}

export interface DisableReport {
  workspace: Workspace;
  removed: InstallReport[];
  failed: { agent: string; message: string }[];
  /** Agents that stay connected. */
  left: string[];
}

export async function enable(cwd: string, options: EnableOptions): Promise<EnableReport> {
  refuseWholeHome(cwd);
  await refuseOtherPlace(cwd);
  const { agents, because, found } = await chooseAgents(cwd, options);
  const workspace = await createWorkspace(cwd);
  const wasEnabled = isEnabled(workspace);
  const record = readStore(workspace) ?? { v: 1, enabledAt: now().toISOString(), agents: {} };
  const report: EnableReport = { workspace, wasEnabled, installed: [], failed: [], chosenBecause: because, found };
  for (const agent of agents) {
    try {
      const { executable, trust = false } = options;
      const done = await connect(agent, options.scope ?? "local", { workspace, executable, trust });
      report.installed.push(done);
      if (done.unanswered) report.failed.push({ agent: agent.profile.id, ...done.unanswered });
      remember(record, done);
      // After each: if the next one fails or we are killed, `disable` knows of this one.
      writeStore(workspace, record);
    } catch (error) {
      const hint = error instanceof UserError ? error.hint : undefined;
      if (agents.length === 1) throw error;
      report.failed.push({ agent: agent.profile.id, message: messageOf(error), hint });
    }
  }
  if (report.installed.length > 0) {
    report.installed[0]?.notes.push(...(await linkCommits(workspace, options.executable)));
    await markPush(workspace);
    return report;
  }
  throw new UserError("failed", report.failed.map(({ agent, message }) => `${agent}: ${message}`).join(" "));
}

export async function disable(
  cwd: string,
  options: { agents?: readonly string[]; executable: string },
): Promise<DisableReport> {
  const workspace = findWorkspace(cwd);
  if (!workspace || !isEnabled(workspace)) {
    throw new UserError("not-found", "Backtrail is not enabled here, so there is nothing to turn off.");
  }
  const record = readStore(workspace);
  if (!record) {
    throw new UserError(
      "failed",
      "The record of what was installed here (store.json) is damaged, so it cannot be taken out.",
      "`backtrail enable` with the same agents writes it anew; then `backtrail disable` works.",
    );
  }
  const chosen = options.agents ? await namedAgents(options.agents, record) : Object.keys(record.agents);
  const report: DisableReport = { workspace, removed: [], failed: [], left: [] };
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
  if (report.left.length === 0) {
    const notes = await unlinkCommits(workspace);
    report.removed[0]?.notes.push(...notes);
  }
  // The store's record goes last: as long as a hook of ours is left somewhere, it says where.
  if (report.left.length === 0) removeFile(join(workspace.storeDir, "store.json"));
  else writeStore(workspace, record);
  return report;
}

/** Recording is worth having without it: what stands in the way of git's hooks is told, and no more. */
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
    return [`git's hooks could not be put back: ${messageOf(error)}`];
  }
}

/** An agent without hooks is only noted: `watch` looks at what it writes. */
async function connect(agent: Agent, scope: Scope, options: InstallOptions): Promise<InstallReport> {
  const needless = options.trust && !agent.trust ? [whyTrustIsNeedless(agent)] : [];
  if (capabilitiesOf(agent).hooks || !agent.watcher) {
    const done = await install(agent, scope, options);
    return { ...done, notes: [...done.notes, ...needless] };
  }
  const { id, display_name: name } = agent.profile;
  const notes = [`${name} has no hooks: it is recorded while \`backtrail watch\` runs beside it.`, ...needless];
  return { agent: id, scope: "local", files: [], notes };
}

function whyTrustIsNeedless({ profile: { display_name: name, hooks } }: Agent): string {
  if (hooks?.review !== undefined) return `${name}: --trust can't answer that for you.`;
  return `${name} wants no review of its hooks, so --trust changes nothing there.`;
}

export interface FoundAgent {
  agent: Agent;
  because: string;
}

/** Agents that seem to be used here: their program is installed, or they have left something in this folder. */
export async function agentsFound(root: string): Promise<FoundAgent[]> {
  const agents = (await listAgents()).filter((agent) => capabilitiesOf(agent).hooks || agent.watcher);
  const found = foundBy(agents, (agent) => whyHere(agent, root));
  // A directory in the home may be left from long ago: it counts only where nothing better is known.
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
  if (executable && isOnPath(executable)) return `${executable} is on PATH`;
  const files = [hooks?.settings.local?.path, hooks?.settings.project?.path, watcher?.file];
  const directories = detection.score_rules.map((rule) => rule.dir_exists);
  const path = [...files, ...directories].find((place) => place !== undefined && existsSync(join(root, place)));
  return path === undefined ? undefined : `${path} is here`;
}

function whyAtHome({ profile }: Agent): string | undefined {
  const own = profile.hooks?.settings.user;
  const home = process.env["HOME"] || homedir();
  if (!own || dirname(own.path) === "." || !existsSync(join(home, dirname(own.path)))) return undefined;
  return `~/${dirname(own.path)} is there`;
}

/** Whether a program of that name can be run from PATH. */
function isOnPath(program: string): boolean {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    try {
      const path = join(directory, program);
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return true;
    } catch {
      // Not in this directory.
    }
  }
  return false;
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

function remember(record: StoreRecord, done: InstallReport): void {
  const before = record.agents[done.agent];
  const files = new Set([...(before?.scope === done.scope ? before.files : []), ...done.files.map(({ file }) => file)]);
  record.agents[done.agent] = { scope: done.scope, files: [...files] };
}

/** Out of every work tree of the repository that has the hooks; null where the profile is gone. */
async function disconnect(
  id: string,
  record: StoreRecord,
  workspace: Workspace,
  executable: string,
): Promise<InstallReport | null> {
  const scope = record.agents[id]?.scope;
  const agent = await getAgent(id);
  if (!agent) throw new UserError("failed", `The profile of ${id} is gone, so its hooks cannot be found.`);
  if (!isScope(scope)) return null;
  if (!capabilitiesOf(agent).hooks) return { agent: id, scope, files: [], notes: [] };
  const roots = new Set([workspace.root, ...(scope === "user" ? [] : installedRoots(agent.profile, { workspace }))]);
  const reports: InstallReport[] = [];
  for (const root of roots) {
    reports.push(await uninstall(agent, scope, { workspace: { ...workspace, root }, executable }));
  }
  return {
    agent: id,
    scope,
    files: reports.flatMap(({ files }) => files),
    notes: reports.flatMap(({ notes }) => notes),
  };
}

async function namedAgents(names: readonly string[], record: StoreRecord): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const id = Object.hasOwn(record.agents, name) ? name : (await requireAgent(name)).profile.id;
    if (!Object.hasOwn(record.agents, id)) {
      const connected = Object.keys(record.agents).join(", ");
      throw new UserError("not-found", `${id} is not connected here.`, `Connected: ${connected || "none"}.`);
    }
    ids.push(id);
  }
  return ids;
}

function isScope(text: string | undefined): text is Scope {
  return text === "local" || text === "project" || text === "user";
}

/** A folder without git is recorded whole: of a home directory or a disk that would never end. */
function refuseWholeHome(cwd: string): void {
  if (findWorkspace(cwd)) return;
  const folder = realpathSync(cwd);
  const isHome = [process.env["HOME"], homedir()].some(
    (home) => home && existsSync(home) && realpathSync(home) === folder,
  );
  if (!isHome && folder !== parse(folder).root) return;
  throw new UserError(
    "refused",
    `${folder} is ${isHome ? "your home directory" : "the whole disk"}, which is too much to record.`,
    "Go into the folder of a project, then run `backtrail enable` there.",
  );
}

/** A repository without a work tree, or with one elsewhere: what lies here is not what git would tell of. */
async function refuseOtherPlace(cwd: string): Promise<void> {
  const ask = async (question: string) => {
    const { code, stdout } = await tryGit(["rev-parse", question], { cwd });
    return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : undefined;
  };
  if ((await ask("--is-bare-repository")) === "true") {
    throw new UserError(
      "refused",
      `${realpathSync(cwd)} is a bare repository: it has no files of its own to record.`,
      "Go into one of its work trees (`git worktree list`), then run `backtrail enable` there.",
    );
  }
  const found = findWorkspace(cwd);
  const top = found?.kind === "repository" ? await ask("--show-toplevel") : undefined;
  if (!found || !top || realpathSync(top) === found.root) return;
  throw new UserError(
    "refused",
    `The files of the repository in ${found.root} lie in ${top} (core.worktree).`,
    "Recording works only where both are in one place.",
  );
}
