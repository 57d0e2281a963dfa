/** Library API: the agents that Backtrail knows. */
import type { Agent } from "../agents/contract/agent.ts";
import * as registry from "../agents/registry/registry.ts";

/**
 * Lists every agent: built-in agents, agents that the user has described, and external agents.
 *
 * @example
 * for (const { profile } of await listAgents()) console.log(profile.id, profile.display_name);
 */
export async function listAgents(): Promise<Agent[]> {
  return registry.listAgents();
}

/**
 * Finds one agent by its id, such as `claude-code`; undefined if there is none. The adapter turns a hook's payload
 * (`HookEnvelope`) into an `Event` and reads the agent's transcripts.
 *
 * @example
 * const agent = await getAgent("codex");
 * console.log(agent?.profile.tested_versions);
 */
export async function getAgent(id: string): Promise<Agent | undefined> {
  return registry.getAgent(id);
}
