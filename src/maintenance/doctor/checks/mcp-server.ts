/** Checks whether the agents that `enable --mcp` connected can still start our MCP server. */
import type { Profile, Scope } from "../../../agents/contract/profile.ts";
import { inspectServer, installServer } from "../../../agents/mcp-server/install.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { userScopeFile } from "../../../base/paths.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { type DoctorRepair, installerNotes } from "../facts.ts";
import { type DoctorOptions, type Finding, ok, problem, warning, within } from "../finding.ts";

interface ConnectedServer {
  profile: Profile;
  scope: Scope;
  everywhere: boolean;
}

export async function checkServers(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { profile, scope } of await connectedServers(workspace)) {
    const { state, file: path, problem: reason } = inspectServer(profile, scope, { workspace, executable });
    const file = within(workspace, path);
    const agent = profile.id;
    if (reason) findings.push(problem("mcp", { kind: "agent-file-unusable", file, reason }));
    else if (state === "installed") findings.push(ok("mcp", { kind: "mcp-installed", agent, file }));
    else findings.push(warning("mcp", { kind: state === "outdated" ? "mcp-outdated" : "mcp-gone", agent, file }, true));
  }
  return findings;
}

export async function reinstallServers(workspace: Workspace, { executable }: DoctorOptions): Promise<DoctorRepair[]> {
  const done: DoctorRepair[] = [];
  for (const { profile, scope, everywhere } of await connectedServers(workspace)) {
    const options = { workspace, executable, ...(everywhere && { holder: userScopeFile() }) };
    if (inspectServer(profile, scope, options).state === "installed") continue;
    const { files, notes } = await installServer(profile, scope, options);
    done.push({ kind: "mcp-reinstalled", agent: profile.id, file: within(workspace, files[0]?.file ?? "") });
    done.push(...installerNotes(notes));
  }
  return done;
}

async function connectedServers(workspace: Workspace): Promise<ConnectedServer[]> {
  const found: ConnectedServer[] = [];
  for (const [id, { mcp: scope, everywhere = false }] of Object.entries(connectedAgents(workspace))) {
    const profile = (await getAgent(id))?.profile;
    if (profile?.mcp && (scope === "local" || scope === "project" || scope === "user"))
      found.push({ profile, scope, everywhere });
  }
  return found;
}
