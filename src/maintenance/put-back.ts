/**
 * Restores settings files that `enable` created and `git clean -fdx` deleted, since git ignores them and nothing would
 * be recorded. Rewrites only deleted files; hooks that the user removed from an existing file stay removed.
 */

import { existsSync } from "node:fs";
import { relative } from "node:path";
import { log, logError } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import { readRecord } from "../checkpoints/git-hooks/record.ts";
import { readStore, type Workspace } from "../git/workspace.ts";
import type { MaintenanceEvent } from "./events.ts";

/** Reports the restored files. Never throws. */
export async function putBackSettings(workspace: Workspace, executable: string): Promise<MaintenanceEvent[]> {
  const events: MaintenanceEvent[] = [];
  for (const [id, { scope, files }] of Object.entries(readStore(workspace)?.agents ?? {})) {
    // The usual case costs one `existsSync`.
    const isThere = files[0] !== undefined && isInside(workspace.root, files[0]) && existsSync(files[0]);
    if (scope !== "local" || isThere) continue;
    try {
      const file = await putBack(workspace, id, executable);
      if (file === undefined) continue;
      events.push({ kind: "hooks-put-back", file: relative(workspace.root, file), agent: id });
    } catch (error) {
      logError("settings put back", error);
    }
  }
  return events;
}

/** The worker's task. */
export async function putBackInBackground(workspace: Workspace): Promise<void> {
  const executable = readRecord(workspace)?.executable;
  if (executable === undefined) return;
  for (const event of await putBackSettings(workspace, executable))
    log("info", "settings put back", JSON.stringify(event));
}

/** Loads the editors of settings only here: every command asks, and they take longer to load than most commands run. */
async function putBack(workspace: Workspace, id: string, executable: string): Promise<string | undefined> {
  const { inspect, install, installedRoots, planInstall, uninstall } = await import("../agents/hooks/install.ts");
  const { connectionOf } = await import("../agents/hooks/connection.ts");
  const { getAgent } = await import("../agents/registry/registry.ts");
  const agent = await getAgent(id);
  if (!agent || agent.selfInstaller || connectionOf(agent) !== "hooks") return undefined;
  const options = { workspace, executable };
  const { file } = inspect(agent, "local", options);
  if (existsSync(file) || !installedRoots(agent.profile, options).includes(workspace.root)) return undefined;
  // A file that git now tracks is shared with others.
  if ((await planInstall(agent, "local", options)).scope !== "local") return undefined;
  await install(agent, "local", options);
  // `disable` may have run in the meantime.
  if (readStore(workspace)?.agents[id]) return file;
  await uninstall(agent, "local", options);
  return undefined;
}
