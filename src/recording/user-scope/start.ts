/**
 * Creates the store of a repository that `enable --scope user` covers, on first use. Does not install git hooks: they
 * change what `git commit` does, so they require `enable` in the repository itself.
 */
import { realpathSync } from "node:fs";
import { now } from "../../base/clock.ts";
import type { Config } from "../../config/load.ts";
import { tryGit } from "../../git/run.ts";
import { createWorkspace, isEnabled, readStore, type Workspace, writeStore } from "../../git/workspace.ts";
import { placeCoverage, userScopeCoverage } from "./coverage.ts";
import { agentsOf, readUserScope } from "./record.ts";

/** Returns whether a store exists now. With `agent`, requires that agent to be connected for every repository. */
export async function startUserScopeStore(workspace: Workspace, config: Config, agent?: string): Promise<boolean> {
  if (isEnabled(workspace)) return true;
  const record = readUserScope();
  if (!record || (agent !== undefined && !record.agents[agent])) return false;
  if (userScopeCoverage(workspace, config).kind !== "recorded" || !(await isInPlace(workspace))) return false;
  await createWorkspace(workspace.root);
  writeStore(workspace, { v: 1, enabledAt: now().toISOString(), agents: agentsOf(record) });
  return true;
}

/** Whether only `enable --scope user` created the store, and the user has since excluded the repository. */
export function isExcludedStore(workspace: Workspace, { scope }: Pick<Config, "scope">): boolean {
  if (placeCoverage(workspace, scope.exclude).kind !== "excluded") return false;
  const agents = Object.values(readStore(workspace)?.agents ?? {});
  return agents.length > 0 && agents.every(({ everywhere }) => everywhere);
}

/** False if the files are elsewhere (core.worktree) or git does not trust the repository. */
async function isInPlace({ root }: Workspace): Promise<boolean> {
  const { code, stdout } = await tryGit(["rev-parse", "--show-toplevel"], { cwd: root });
  const top = stdout.toString("utf8").replace(/\n$/, "");
  return code === 0 && top !== "" && realpathSync(top) === root;
}
