/** How the agents are connected here, for `status`: where their hooks are, and whether they are called. */
import type { Agent } from "../../../agents/contract/agent.ts";
import type { Scope } from "../../../agents/contract/profile.ts";
import { connectionOf } from "../../../agents/hooks/connection.ts";
import { type InstallOptions, inspect, inspectAll, installedRoots } from "../../../agents/hooks/install.ts";
import { inspectServer } from "../../../agents/mcp-server/install.ts";
import { listAgents } from "../../../agents/registry/registry.ts";
import { now } from "../../../base/clock.ts";
import { shownPath } from "../../../base/text.ts";
import type { Presence } from "../../../edit/hook-entries.ts";
import { isEnabled, type Workspace } from "../../../git/workspace.ts";
import { agentHealth } from "../../../maintenance/doctor/agent-health.ts";
import type { SessionState } from "../../../recording/session/store.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { placeOf } from "../../render/layout/location.ts";
import { age } from "../../render/layout/time.ts";
import { ownExecutable } from "../../shared/executable.ts";

const SHOWN_ROOTS = 3;

export interface AgentStatus {
  id: string;
  hooks: "installed" | "absent" | "outdated" | "watched" | "by-hand" | "runs";
  scope: Scope | null;
  /** Whether this work tree received a hook call from the agent since its hooks were written. */
  heard: boolean;
  lastHeard: string | null;
  /** Sentences about why its hooks are not called, and about sessions that called none. */
  problems: string[];
  /** Other work trees of the repository that have the agent's hooks. */
  worktrees: string[];
  /** Present if `enable --mcp` has connected the agent. */
  mcp?: Presence;
}

export async function agentStatus(workspace: Workspace, sessions: readonly SessionState[]): Promise<AgentStatus[]> {
  const connected = isEnabled(workspace) ? connectedAgents(workspace) : {};
  const executable = ownExecutable();
  const result: AgentStatus[] = [];
  for (const agent of await listAgents()) {
    const { profile } = agent;
    const by = connectionOf(agent);
    if (by !== "hooks") {
      if (by === "none" || !connected[profile.id]) continue;
      const health = by === "by-hand" ? await healthOf(workspace, agent, "local", sessions) : UNHEARD;
      result.push({ ...health, id: profile.id, hooks: by === "watch" ? "watched" : by, scope: "local" });
      continue;
    }
    const found = inspectAll(agent, { workspace, executable });
    const recorded = connected[profile.id]?.scope;
    const best =
      found.find(({ scope, state }) => scope === recorded && state !== "absent") ??
      found.find(({ state }) => state === "installed") ??
      found.find(({ state }) => state === "outdated");
    const isGone =
      !best && isEnabled(workspace) && (recorded === "local" || recorded === "project" || recorded === "user");
    if (isGone) {
      const problems = [goneText(workspace, agent, recorded, executable)];
      result.push({ ...UNHEARD, id: profile.id, hooks: "absent", scope: recorded, problems });
      continue;
    }
    const health = best && isEnabled(workspace) ? await healthOf(workspace, agent, best.scope, sessions) : UNHEARD;
    const mcp = serverState(agent, connected[profile.id]?.mcp, { workspace, executable });
    result.push({ id: profile.id, hooks: best?.state ?? "absent", scope: best?.scope ?? null, ...health, ...mcp });
  }
  return result;
}

/** Whether the agent can start our MCP server; nothing if it is not set up to. */
function serverState({ profile }: Agent, scope: string | undefined, options: InstallOptions): Pick<AgentStatus, "mcp"> {
  if (!profile.mcp || (scope !== "local" && scope !== "project" && scope !== "user")) return {};
  return { mcp: inspectServer(profile, scope, options).state };
}

/** For an agent that is connected but whose hooks are missing here. */
function goneText(workspace: Workspace, agent: Agent, scope: Scope, executable: string): string {
  const { id } = agent.profile;
  const others = installedRoots(agent.profile, { workspace });
  if (scope === "local" && others.length > 0 && !others.includes(workspace.root)) {
    const where = others.slice(0, SHOWN_ROOTS).map((root) => shownPath(root));
    return `${id} is connected in ${where.join(", ")}, not in this work tree. \`backtrail enable --agent ${id}\` connects it here.`;
  }
  const file = placeOf(inspect(agent, scope, { workspace, executable }).file, workspace.root);
  return `The hooks of ${id} are gone from ${file}. Restore them with \`backtrail doctor --fix\`.`;
}

const UNHEARD = { heard: false, lastHeard: null, problems: [], worktrees: [] };

async function healthOf(
  workspace: Workspace,
  agent: Agent,
  scope: Scope,
  sessions: readonly SessionState[],
): Promise<Pick<AgentStatus, "heard" | "lastHeard" | "problems" | "worktrees">> {
  const shown = (file: string) => placeOf(file, workspace.root);
  const found = await agentHealth(workspace, agent, scope, { executable: ownExecutable(), shown, sessions });
  const problems = found.obstacles.map(({ message, hint }) => `${message} ${hint}`);
  if (found.sessionWithoutHooks) {
    const { id, time } = found.sessionWithoutHooks;
    problems.push(
      `${agent.profile.id} worked here without calling its hooks ${age(time, now())}: session ${id} is not recorded.`,
    );
  }
  const roots = scope === "local" ? installedRoots(agent.profile, { workspace }) : [];
  const worktrees = roots.filter((root) => root !== workspace.root);
  return { heard: found.heard, lastHeard: found.lastHeard, problems, worktrees };
}
