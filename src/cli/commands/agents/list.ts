/** `agents list`: every agent and what works with it. */
import { capabilitiesOf, listAgents } from "../../../agents/registry.ts";
import { printable } from "../../../base/text.ts";
import type { Io } from "../../io.ts";
import { type Cell, table } from "../../render/table.ts";

const CAPABILITIES = ["hooks", "chat", "tokens", "rewind", "run"] as const;

export async function run(options: { json?: boolean }, io: Io): Promise<undefined> {
  const agents = await listAgents();
  if (options.json) {
    io.json({
      agents: agents.map((agent) => ({
        id: agent.profile.id,
        name: agent.profile.display_name,
        version: agent.profile.tested_versions.at(-1) ?? null,
        capabilities: capabilitiesOf(agent),
      })),
    });
    return;
  }
  const { paint } = io.out;
  const head: Cell[] = ["agent", "name", ...CAPABILITIES, "tested with"].map((text) => ({
    text,
    paint: (shown: string) => paint("dim", shown),
  }));
  const rows = agents.map((agent): Cell[] => {
    const can = capabilitiesOf(agent);
    return [
      { text: agent.profile.id, paint: (text) => paint("bold", text) },
      { text: printable(agent.profile.display_name) },
      ...CAPABILITIES.map(
        (name): Cell => (can[name] ? { text: "yes", paint: (text) => paint("green", text) } : { text: "-" }),
      ),
      { text: printable(agent.profile.tested_versions.at(-1) ?? (agent.profile.preview ? "preview" : "-")) },
    ];
  });
  for (const line of table([head, ...rows], io.out.columns)) io.print(line);
}
