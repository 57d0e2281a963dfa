/** Checks whether agents and git still call Backtrail, and whether the agents' versions are known. */
import type { Agent } from "../../../agents/contract/agent.ts";
import type { Scope } from "../../../agents/contract/profile.ts";
import { connectionOf } from "../../../agents/hooks/connection.ts";
import { inspect, install } from "../../../agents/hooks/install.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { installedVersion, standingOf } from "../../../agents/registry/version.ts";
import { userScopeFile } from "../../../base/paths.ts";
import { shownPath } from "../../../base/text.ts";
import { type GitHooksFound, inspectGitHooks, installGitHooks } from "../../../checkpoints/git-hooks/install.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { agentHealth } from "../agent-health.ts";
import { type DoctorRepair, installerNotes } from "../facts.ts";
import { type DoctorOptions, type Finding, ok, problem, warning, within } from "../finding.ts";

export async function checkHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id, scope] of connected(workspace)) {
    const agent = await getAgent(id);
    if (!agent) {
      findings.push(problem("hooks", { kind: "agent-profile-gone", agent: id }));
      continue;
    }
    const by = connectionOf(agent);
    if (by === "watch" || by === "runs") {
      findings.push(ok("hooks", { kind: "agent-without-hooks", agent: id, by }));
      continue;
    }
    if (by === "by-hand") {
      findings.push(...(await callFindings(workspace, agent, scope, executable, null)));
      continue;
    }
    const { state, file: path, problem: reason } = inspect(agent, scope, { workspace, executable });
    const file = within(workspace, path);
    if (reason) findings.push(problem("hooks", { kind: "agent-file-unusable", file, reason }));
    else if (state === "installed") findings.push(...(await callFindings(workspace, agent, scope, executable, file)));
    else {
      const kind = state === "outdated" ? "hooks-outdated" : "hooks-gone";
      findings.push(problem("hooks", { kind, agent: id, file }, true));
    }
  }
  return findings.length > 0 ? findings : [warning("hooks", { kind: "no-agent-connected" })];
}

/** Installed hooks are fine only if Backtrail has received an event from one of them. */
async function callFindings(
  workspace: Workspace,
  agent: Agent,
  scope: Scope,
  executable: string,
  /** Null for hooks that the user made. */
  file: string | null,
): Promise<Finding[]> {
  const { id } = agent.profile;
  const shown = (path: string) => shownPath(within(workspace, path));
  const { obstacles, sessionWithoutHooks, heard, lastHeard } = await agentHealth(workspace, agent, scope, {
    executable,
    shown,
  });
  const findings = obstacles.map(({ kind, message, hint }): Finding => {
    const fact = { kind: "hooks-obstructed", obstacle: kind, text: message, remedy: hint } as const;
    return kind === "ignored-file" ? problem("hooks", fact) : warning("hooks", fact);
  });
  if (sessionWithoutHooks) {
    const { id: session, time } = sessionWithoutHooks;
    findings.push(warning("hooks", { kind: "hooks-not-called", agent: id, session, time }));
  }
  if (findings.length > 0) return findings;
  if (heard) return [ok("hooks", { kind: "hooks-called", agent: id, file, last: lastHeard })];
  return [warning("hooks", { kind: "hooks-not-called-yet", agent: id, file })];
}

/** The states that break nothing, or that only a person can fix. */
const NOT_FIXABLE: ReadonlySet<GitHooksFound["state"]> = new Set(["installed", "absent", "off", "left"]);

export async function checkGitHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  if (workspace.kind === "private") return [];
  const { state, place, manager, which, isForced } = await inspectGitHooks(workspace, executable);
  const isUserScopeAlone = isOnlyUserScope(workspace);
  const directory = within(workspace, place);
  const kind = `git-hooks-${state}` as const;
  const fact = { kind, directory, manager, hooks: which, isForced, isUserScopeAlone };
  if (state === "installed" || (state === "absent" && isUserScopeAlone)) return [ok("git hooks", fact)];
  const isFixable = !NOT_FIXABLE.has(state) && !(state === "shadowed" && isForced);
  return [state === "circular" ? problem("git hooks", fact, isFixable) : warning("git hooks", fact, isFixable)];
}

/** A different version of an agent may send different hook payloads. */
export async function checkVersions(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id] of connected(workspace)) {
    const profile = (await getAgent(id))?.profile;
    const version = profile ? installedVersion(profile) : undefined;
    if (!profile || version === undefined) continue;
    const tested = profile.tested_versions;
    const than = standingOf(version, tested);
    if (than === "tested") findings.push(ok("versions", { kind: "agent-version-tested", agent: id, version }));
    else if (tested.length === 0) findings.push(ok("versions", { kind: "agent-never-tested", agent: id, version }));
    else findings.push(warning("versions", { kind: "agent-version-untested", agent: id, version, than, tested }));
  }
  return findings;
}

/** Whether only `enable --scope user` connected agents, and not `enable` in this repository. */
function isOnlyUserScope(workspace: Workspace): boolean {
  const agents = Object.values(connectedAgents(workspace));
  return agents.length > 0 && agents.every(({ everywhere }) => everywhere);
}

export async function reinstall(workspace: Workspace, { executable }: DoctorOptions): Promise<DoctorRepair[]> {
  const repairs: DoctorRepair[] = [];
  for (const [id, scope] of connected(workspace)) {
    const agent = await getAgent(id);
    if (!agent?.profile.hooks || inspect(agent, scope, { workspace, executable }).state === "installed") continue;
    const holder = connectedAgents(workspace)[id]?.everywhere ? userScopeFile() : undefined;
    const { by, files, notes } = await install(agent, scope, { workspace, executable, holder });
    const file = within(workspace, by ?? files[0]?.file ?? "");
    repairs.push({ kind: "agent-hooks-reinstalled", agent: id, file }, ...installerNotes(notes));
  }
  return repairs;
}

export async function reinstallGitHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<DoctorRepair[]> {
  const { notes } = await installGitHooks(workspace, executable);
  return [{ kind: "git-hooks-reinstalled" }, ...installerNotes(notes)];
}

function connected(workspace: Workspace): [string, Scope][] {
  return Object.entries(connectedAgents(workspace)).flatMap(([id, { scope }]): [string, Scope][] =>
    scope === "local" || scope === "project" || scope === "user" ? [[id, scope]] : [],
  );
}
