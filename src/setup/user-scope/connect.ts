/** Connects an agent for every repository, and excludes a single repository. */

import type { Agent } from "../../agents/contract/agent.ts";
import type { InstallReport } from "../../agents/hooks/install.ts";
import { requireAgent } from "../../agents/registry/registry.ts";
import { now } from "../../base/clock.ts";
import { userScopeFile } from "../../base/paths.ts";
import { ownFile } from "../../config/load.ts";
import { setValue } from "../../config/write.ts";
import type { Workspace } from "../../git/workspace.ts";
import { addToUserScope, readUserScope, removeFromUserScope } from "../../recording/user-scope/record.ts";
import { SetupError } from "../problems.ts";

/**
 * `install` adds the hooks to the user's settings on behalf of `holder`. Writes the record first: if the process is
 * killed in between, `disable --scope user` can still find the hooks.
 */
export async function connectEverywhere(
  { profile: { id } }: Agent,
  install: (holder: string) => Promise<InstallReport>,
): Promise<InstallReport> {
  const before = readUserScope()?.agents[id];
  if (!before) addToUserScope(id, "", now().toISOString());
  try {
    const done = await install(userScopeFile());
    const [file] = done.files;
    if (done.scope === "user" && file) {
      addToUserScope(id, file.file, before && file.action === "unchanged" ? before.since : now().toISOString());
    } else if (!before) removeFromUserScope(id);
    return done;
  } catch (error) {
    if (!before) removeFromUserScope(id);
    throw error;
  }
}

/** Agents still call the hooks of the user's settings in this repository; this setting makes the hooks do nothing. */
export function excludeRepository(workspace: Workspace): void {
  setValue(ownFile(workspace), "local", "enabled", false);
}

/** For `disable --agent`: an agent that is connected everywhere cannot be disconnected in one repository. */
export async function refuseEverywhere(names: readonly string[]): Promise<void> {
  const everywhere = readUserScope()?.agents ?? {};
  for (const name of names) {
    const id = everywhere[name] ? name : (await requireAgent(name)).profile.id;
    if (!everywhere[id]) continue;
    throw new SetupError("usage", { kind: "connected-everywhere", agent: id });
  }
}
