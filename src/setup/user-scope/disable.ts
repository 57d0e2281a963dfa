/** Implements `disable --scope user`: removes the hooks from the user's settings. Existing stores stay, inactive. */

import { type InstallReport, uninstall } from "../../agents/hooks/install.ts";
import { getAgent, requireAgent } from "../../agents/registry/registry.ts";
import { messageOf } from "../../base/errors.ts";
import { userScopeFile } from "../../base/paths.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { readUserScope, removeFromUserScope } from "../../recording/user-scope/record.ts";
import { disconnectExtras } from "../extras.ts";
import { SetupError } from "../problems.ts";
import { outsideWorkspace } from "./outside.ts";

export interface UserScopeDisabled {
  removed: InstallReport[];
  failed: { agent: string; message: string }[];
  /** Agents that stay connected for every repository. */
  left: string[];
}

export async function disableUserScope(
  cwd: string,
  options: { agents?: readonly string[]; executable: string },
): Promise<UserScopeDisabled> {
  const known = Object.keys(readUserScope()?.agents ?? {});
  if (known.length === 0) {
    throw new SetupError("not-found", { kind: "nothing-connected-everywhere" });
  }
  const workspace = findWorkspace(cwd) ?? outsideWorkspace(cwd);
  const report: UserScopeDisabled = { removed: [], failed: [], left: [] };
  for (const id of options.agents ? await named(options.agents, known) : known) {
    try {
      const agent = await getAgent(id);
      if (!agent) throw new SetupError("failed", { kind: "profile-gone", agent: id });
      const { executable } = options;
      const place = { workspace, executable, holder: userScopeFile() };
      const files = await disconnectExtras(agent, { mcp: "user", commands: "user" }, [], place);
      const removed = await uninstall(agent, "user", place);
      report.removed.push({ ...removed, files: [...files, ...removed.files] });
      removeFromUserScope(id);
    } catch (error) {
      report.failed.push({ agent: id, message: messageOf(error) });
    }
  }
  report.left = Object.keys(readUserScope()?.agents ?? {});
  return report;
}

async function named(names: readonly string[], known: readonly string[]): Promise<string[]> {
  const ids = await Promise.all(
    names.map(async (name) => (known.includes(name) ? name : (await requireAgent(name)).profile.id)),
  );
  const other = ids.find((id) => !known.includes(id));
  if (other === undefined) return ids;
  throw new SetupError("not-found", { kind: "agent-not-connected-everywhere", agent: other, connected: known });
}
