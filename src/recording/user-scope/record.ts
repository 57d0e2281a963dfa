/**
 * Reads and writes user-scope.json in the user's data directory: the agents that `enable --scope user` has connected
 * for every repository. Their hooks stay in the user's settings as long as this record lists them.
 */
import { readJson, removeFile, writeJson } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { userScopeFile } from "../../base/paths.ts";
import { type ConnectedAgent, readStore, type Workspace } from "../../git/workspace.ts";

export interface UserScope {
  v: 1;
  agents: Record<string, { file: string; since: string }>;
}

/** Undefined if the record is missing or invalid. */
export function readUserScope(): UserScope | undefined {
  try {
    const record = readJson(userScopeFile()) as Partial<UserScope> | null | undefined;
    if (record?.v !== 1 || typeof record.agents !== "object" || record.agents === null) return undefined;
    const agents = Object.entries(record.agents).filter(
      ([, agent]) => typeof agent?.file === "string" && typeof agent.since === "string",
    );
    return agents.length === 0 ? undefined : { v: 1, agents: Object.fromEntries(agents) };
  } catch (error) {
    logError("user-scope.json", error);
    return undefined;
  }
}

export function addToUserScope(id: string, file: string, since: string): void {
  const agents = readUserScope()?.agents ?? {};
  writeJson(userScopeFile(), { v: 1, agents: { ...agents, [id]: { file, since } } } satisfies UserScope, {
    sync: true,
  });
}

export function removeFromUserScope(id: string): void {
  const { [id]: _, ...agents } = readUserScope()?.agents ?? {};
  if (Object.keys(agents).length === 0) removeFile(userScopeFile());
  else writeJson(userScopeFile(), { v: 1, agents } satisfies UserScope, { sync: true });
}

/** Agents that are connected by this store or for every repository. */
export function connectedAgents(workspace: Workspace): Record<string, ConnectedAgent> {
  const everywhere = readUserScope()?.agents ?? {};
  const own = Object.entries(readStore(workspace)?.agents ?? {});
  // Drop agents that were disconnected for every repository since this store was created.
  const current = own.filter(([id, agent]) => !agent.everywhere || everywhere[id]);
  return { ...agentsOf({ v: 1, agents: everywhere }), ...Object.fromEntries(current) };
}

/** Converts the agents to the form that a store records. */
export function agentsOf({ agents }: UserScope): Record<string, ConnectedAgent> {
  return Object.fromEntries(
    Object.entries(agents).map(([id, { file, since }]) => [
      id,
      { scope: "user", files: [file], since, everywhere: true as const },
    ]),
  );
}
