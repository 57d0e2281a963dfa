/** `agents detect`: lists the agents used here, and whether an agent runs this command. */

import { detectAgent, UNKNOWN } from "../../../agents/registry/detect.ts";
import { listAgents } from "../../../agents/registry/registry.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { agentsFound } from "../../../setup/enable.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { table } from "../../render/layout/table.ts";
import { settingsOf } from "../../shared/settings.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsDetectCommand } from "./commands.ts";

export async function run(options: OptionsOf<typeof agentsDetectCommand>, io: Io): Promise<number | undefined> {
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
  if (current.id !== UNKNOWN) io.printMessage(`This was started by ${current.id} (recognized by its ${current.by}).`);
  const rows = found.map(({ agent, because }) => [agent.profile.id, agent.profile.display_name, because]);
  for (const line of table(rows, io.out.columns)) io.print(line);
  if (found.length > 0 || current.id !== UNKNOWN) return;
  io.say("No agent that Backtrail knows was found here. `backtrail agents list` shows the known agents.");
  return EXIT.nothing;
}
