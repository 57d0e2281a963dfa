/** Checks whether agents and git still call Backtrail, and whether the agents' versions are known. */
import type { Agent } from "../../../agents/contract/agent.ts";
import type { Scope } from "../../../agents/contract/profile.ts";
import { inspect, install } from "../../../agents/hooks/install.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { installedVersion, standingOf } from "../../../agents/registry/version.ts";
import { userScopeFile } from "../../../base/paths.ts";
import { inspectGitHooks, installGitHooks } from "../../../checkpoints/git-hooks/install.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { agentHealth } from "../agent-health.ts";
import { type DoctorOptions, FIX, type Finding, ok, problem, warning, within } from "../finding.ts";

export async function checkHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id, scope] of connected(workspace)) {
    const agent = await getAgent(id);
    if (!agent) {
      findings.push(
        problem("hooks", `The profile of ${id} is gone.`, `Bring it back, or run \`backtrail disable --agent ${id}\`.`),
      );
      continue;
    }
    if (!agent.profile.hooks) {
      findings.push(ok("hooks", `${id}: has none, and is recorded while \`backtrail watch\` runs`));
      continue;
    }
    const { state, file, problem: why } = inspect(agent, scope, { workspace, executable });
    const place = within(workspace, file);
    const hint = "Run `backtrail doctor --fix`.";
    if (why) findings.push(problem("hooks", `${place} cannot be used: ${why}`, "Put that file right."));
    else if (state === "installed") findings.push(...(await heardFindings(workspace, agent, scope, executable, place)));
    else if (state === "outdated")
      findings.push(problem("hooks", `The hooks of ${id} in ${place} call another Backtrail.`, hint, true));
    else findings.push(problem("hooks", `The hooks of ${id} are gone from ${place}.`, hint, true));
  }
  if (findings.length === 0)
    return [warning("hooks", "No agent is connected.", "`backtrail enable` connects those it finds.")];
  return findings;
}

/** Installed hooks are fine only if Backtrail has received an event from one of them. */
async function heardFindings(
  workspace: Workspace,
  agent: Agent,
  scope: Scope,
  executable: string,
  place: string,
): Promise<Finding[]> {
  const { id } = agent.profile;
  const shown = (file: string) => within(workspace, file);
  const health = await agentHealth(workspace, agent, scope, { executable, shown });
  const findings: Finding[] = health.obstacles.map(({ kind, message, hint }) =>
    kind === "ignored-file" ? problem("hooks", message, hint) : warning("hooks", message, hint),
  );
  if (health.unheardSession) {
    const { id: session, time } = health.unheardSession;
    const message = `${id} worked here without calling its hooks: session ${session} (last written ${time}).`;
    const hint = "Nothing of it was recorded. Restart the agent; `backtrail import` reads its conversation.";
    findings.push(warning("hooks", message, hint));
  }
  if (health.heard) {
    const heard = `${id}: in ${place}, last heard ${health.lastHeard}`;
    return findings.length > 0 ? findings : [ok("hooks", heard)];
  }
  if (findings.length > 0) return findings;
  const hint = "Start the agent here, or restart it if it is running; then look again.";
  return [warning("hooks", `${id}: installed, not heard yet (in ${place}).`, hint)];
}

export async function checkGitHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  if (workspace.kind === "private") return [];
  const { state, place, manager, which, isForced } = await inspectGitHooks(workspace, executable);
  const beside = manager ? `, beside ${manager}` : "";
  const directory = within(workspace, place);
  const hooks = which.join(", ");
  switch (state) {
    case "installed":
      return [ok("git hooks", `in ${directory}${beside}`)];
    case "absent":
      if (isUserScopeAlone(workspace)) {
        return [ok("git hooks", "not installed, so commits are not linked; `backtrail enable` here installs them")];
      }
      return [warning("git hooks", "Commits are not linked to their conversations.", "`backtrail enable` links them.")];
    case "off":
      return [warning("git hooks", "git runs no hooks here (core.hooksPath is /dev/null).", "Commits are not linked.")];
    case "outdated":
      return [warning("git hooks", `git's hooks in ${directory} call another Backtrail.`, FIX, true)];
    case "shadowed":
      return [
        warning(
          "git hooks",
          `git takes its hooks from ${directory} now (core.hooksPath), where ours are not.`,
          isForced ? "Commits in this work tree are not linked." : FIX,
          !isForced,
        ),
      ];
    case "missing":
      return [
        warning(
          "git hooks",
          `${manager ?? "Another tool"} has replaced or removed hooks of ours in ${directory}: ${hooks}.`,
          FIX,
          true,
        ),
      ];
    case "contested":
      return [
        warning(
          "git hooks",
          `${manager ?? "Another tool"} keeps replacing hooks of ours in ${directory}: ${hooks}. They are no longer put back.`,
          "`backtrail doctor --fix` tries again.",
          true,
        ),
      ];
    case "knotted":
      return [
        problem(
          "git hooks",
          `Hooks of ${manager ?? "another tool"} and of Backtrail in ${directory} call each other or run twice: ${hooks}.`,
          FIX,
          true,
        ),
      ];
    case "old":
      return [warning("git hooks", `Hooks of an earlier version are in ${directory}: ${hooks}.`, FIX, true)];
    case "left":
      return [
        warning(
          "git hooks",
          `Hooks in ${directory} call hooks that Backtrail keeps, and were left as they are: ${hooks}.`,
          "Take those calls out; until then commits may not be linked.",
        ),
      ];
  }
}

/** A different version of an agent may send different hook payloads. */
export async function checkVersions(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id] of connected(workspace)) {
    const profile = (await getAgent(id))?.profile;
    const version = profile ? installedVersion(profile) : undefined;
    if (!profile || version === undefined) continue;
    const tested = profile.tested_versions;
    const standing = standingOf(version, tested);
    if (standing === "tested") findings.push(ok("versions", `${id} ${version}`));
    else if (tested.length === 0) findings.push(ok("versions", `${id} ${version}, which no version was tested of`));
    else {
      const message = `${id} ${version} is ${standing} than what Backtrail was tested with (${tested.join(", ")}).`;
      findings.push(
        warning("versions", message, "Look with `backtrail log` whether its turns are recorded as they were."),
      );
    }
  }
  return findings;
}

/** Whether only `enable --scope user` connected agents, and not `enable` in this repository. */
function isUserScopeAlone(workspace: Workspace): boolean {
  const agents = Object.values(connectedAgents(workspace));
  return agents.length > 0 && agents.every(({ everywhere }) => everywhere);
}

/** Returns messages about the reinstalled hooks. */
export async function reinstall(workspace: Workspace, { executable }: DoctorOptions): Promise<string[]> {
  const said: string[] = [];
  for (const [id, scope] of connected(workspace)) {
    const agent = await getAgent(id);
    if (!agent?.profile.hooks || inspect(agent, scope, { workspace, executable }).state === "installed") continue;
    const holder = connectedAgents(workspace)[id]?.everywhere ? userScopeFile() : undefined;
    const done = await install(agent, scope, { workspace, executable, holder });
    said.push(`Put the hooks of ${id} into ${within(workspace, done.by ?? done.files[0]?.file ?? "")}.`, ...done.notes);
  }
  return said;
}

export async function reinstallGitHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<string[]> {
  const { notes } = await installGitHooks(workspace, executable);
  return ["Put git's hooks back in place.", ...notes];
}

function connected(workspace: Workspace): [string, Scope][] {
  return Object.entries(connectedAgents(workspace)).flatMap(([id, { scope }]): [string, Scope][] =>
    scope === "local" || scope === "project" || scope === "user" ? [[id, scope]] : [],
  );
}
