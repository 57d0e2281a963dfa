/** Checks whether the agents that `enable --mcp` connected can still start our MCP server. */
import type { Profile, Scope } from "../../../agents/contract/profile.ts";
import { inspectServer, installServer } from "../../../agents/mcp-server/install.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { userScopeFile } from "../../../base/paths.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { connectedAgents } from "../../../recording/user-scope/record.ts";
import { type DoctorOptions, FIX, type Finding, ok, problem, warning, within } from "../finding.ts";

interface ConnectedServer {
  profile: Profile;
  scope: Scope;
  everywhere: boolean;
}

export async function checkServers(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { profile, scope } of await connectedServers(workspace)) {
    const { state, file, problem: why } = inspectServer(profile, scope, { workspace, executable });
    const place = within(workspace, file);
    if (why) findings.push(problem("mcp", `${place} cannot be used: ${why}`, "Put that file right."));
    else if (state === "installed") findings.push(ok("mcp", `${profile.id}: in ${place}`));
    else if (state === "outdated")
      findings.push(warning("mcp", `${profile.id} starts another Backtrail as its MCP server (${place}).`, FIX, true));
    else findings.push(warning("mcp", `The MCP server is gone from ${place}, so ${profile.id} lacks it.`, FIX, true));
  }
  return findings;
}

/** Returns messages about the reinstalled entries. */
export async function reinstallServers(workspace: Workspace, { executable }: DoctorOptions): Promise<string[]> {
  const said: string[] = [];
  for (const { profile, scope, everywhere } of await connectedServers(workspace)) {
    const options = { workspace, executable, ...(everywhere && { holder: userScopeFile() }) };
    if (inspectServer(profile, scope, options).state === "installed") continue;
    const { files, notes } = await installServer(profile, scope, options);
    said.push(`Put the MCP server of ${profile.id} into ${within(workspace, files[0]?.file ?? "")}.`, ...notes);
  }
  return said;
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
