/** The parts of `enable` and `disable` that are about `--mcp` and `--commands`. */

import { installCommands, uninstallCommands } from "../agents/commands/install.ts";
import type { Agent } from "../agents/contract/agent.ts";
import type { Scope } from "../agents/contract/profile.ts";
import type { InstallOptions, InstallReport } from "../agents/hooks/install.ts";
import { installServer, uninstallServer } from "../agents/mcp-server/install.ts";
import { userScopeFile } from "../base/paths.ts";
import type { Outcome } from "../edit/record.ts";
import type { Workspace } from "../git/workspace.ts";

interface ServerOptions {
  mcp?: boolean;
  commands?: boolean;
  executable: string;
  trust?: boolean;
  scope?: Scope;
}

/**
 * Adds the server to the agent's settings, in the scope of its hooks, and to the report. An agent that is connected
 * already stays so, and its entry is brought up to date. Returns the server's scope; undefined if it has none.
 */
export async function connectServer(
  { profile }: Agent,
  done: InstallReport,
  { mcp = false, executable, trust = false, scope }: ServerOptions,
  workspace: Workspace,
  before: string | undefined,
): Promise<string | undefined> {
  if (!mcp && before === undefined) return undefined;
  if (!profile.mcp) {
    done.notes.push(`${profile.display_name} has no MCP client, so it can't ask Backtrail anything.`);
    return undefined;
  }
  const holder = scope === "user" ? { holder: userScopeFile() } : {};
  const report = await installServer(profile, done.scope, { workspace, executable, trust, ...holder });
  // `enable` with another scope moves the server, as it moves the hooks.
  if (isScope(before) && before !== report.scope)
    done.files.push(...(await uninstallServer(profile, before, { workspace, executable })));
  done.files.push(...report.files);
  done.notes.push(...report.notes);
  done.mcp = report.scope;
  return report.scope;
}

/** Adds our commands to the agent's own, in the scope of its hooks. Returns their scope; undefined if it has none. */
export async function connectCommands(
  { profile }: Agent,
  done: InstallReport,
  { commands = false, executable, scope }: ServerOptions,
  workspace: Workspace,
  before: string | undefined,
): Promise<string | undefined> {
  if (!commands && before === undefined) return undefined;
  if (!profile.commands) {
    done.notes.push(`${profile.display_name} has no commands of a kind that Backtrail can add.`);
    return undefined;
  }
  const holder = scope === "user" ? { holder: userScopeFile() } : {};
  if (isScope(before) && before !== done.scope) await uninstallCommands(profile, before, { workspace, executable });
  done.files.push(...(await installCommands(profile, done.scope, { workspace, executable, ...holder })));
  done.commands = done.scope;
  return done.scope;
}

/** Removes the server and the commands for every work tree at `roots`; returns the changed files. */
export async function disconnectExtras(
  { profile }: Agent,
  { mcp, commands }: { mcp?: string | undefined; commands?: string | undefined },
  roots: readonly string[],
  { workspace, executable, holder }: InstallOptions & { workspace: Workspace },
): Promise<Outcome[]> {
  const files: Outcome[] = [];
  const optionsAt = (root: string) => ({
    workspace: { ...workspace, root },
    executable,
    ...(holder !== undefined && { holder }),
  });
  const places = (scope: Scope) => (scope === "user" ? [workspace.root] : roots);
  if (profile.mcp && isScope(mcp))
    for (const root of places(mcp)) files.push(...(await uninstallServer(profile, mcp, optionsAt(root))));
  if (profile.commands && isScope(commands))
    for (const root of places(commands)) files.push(...(await uninstallCommands(profile, commands, optionsAt(root))));
  return files;
}

function isScope(text: string | undefined): text is Scope {
  return text === "local" || text === "project" || text === "user";
}
