/** `agents detect`: which agents are used here, and whether one is asking right now. */
import { detectAgent, UNKNOWN } from "../../../agents/detect.ts";
import { listAgents } from "../../../agents/registry.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { agentsFound } from "../../../lifecycle/enable.ts";
import { EXIT } from "../../exit.ts";
import type { Io } from "../../io.ts";
import { table } from "../../render/table.ts";
import { settingsOf } from "../../settings.ts";

export async function run(options: { json?: boolean }, io: Io): Promise<number | undefined> {
  const workspace = findWorkspace(io.cwd);
  const root = workspace?.root ?? io.cwd;
  const { config } = settingsOf(workspace);
  const found = await agentsFound(root);
  const profiles = (await listAgents()).map(({ profile }) => profile);
  const evidence = { payload: null, env: io.environment, root, configured: config.agent ?? undefined };
  const current = detectAgent(profiles, evidence);
  if (options.json) {
    io.json({
      agents: found.map(({ agent, because }) => ({ id: agent.profile.id, name: agent.profile.display_name, because })),
      current: current.id === UNKNOWN ? null : current,
    });
    return;
  }
  if (current.id !== UNKNOWN) io.print(`This was started by ${current.id} (told by its ${current.by}).`);
  const rows = found.map(({ agent, because }) => [agent.profile.id, agent.profile.display_name, because]);
  for (const line of table(rows, io.out.columns)) io.print(line);
  if (found.length > 0 || current.id !== UNKNOWN) return;
  io.say("No agent that Backtrail knows was found here. `backtrail agents list` shows which those are.");
  return EXIT.nothing;
}
