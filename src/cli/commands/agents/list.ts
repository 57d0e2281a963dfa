/** `agents list`: lists every agent and its capabilities. */
import { faultyProfiles } from "../../../agents/authoring/faults.ts";
import type { Agent } from "../../../agents/contract/agent.ts";
import { brokenProfiles, capabilitiesOf, isOverridden, listAgents } from "../../../agents/registry/registry.ts";
import { printable } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { widthOf, wrapAfter } from "../../render/layout/text.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsListCommand } from "./commands.ts";

const CAPABILITIES = ["hooks", "chat", "tokens", "rewind", "run"] as const;

/** An agent on two lines, for a screen that is too narrow for the table. */
function narrowLines(agent: Agent, { out }: Io): string[] {
  const { profile } = agent;
  const can = capabilitiesOf(agent);
  const version = profile.tested_versions.at(-1) ?? (profile.preview ? "preview" : "");
  const names = CAPABILITIES.filter((name) => can[name]).join(", ");
  return [
    `${out.paint("bold", profile.id)}  ${printable(version)}`.trimEnd(),
    ...wrapAfter("  ", names === "" ? "code only" : names, out.columns),
  ];
}

export async function run(options: OptionsOf<typeof agentsListCommand>, io: Io): Promise<undefined> {
  const agents = await listAgents();
  const overridden = new Set<string>();
  for (const { profile } of agents) if (await isOverridden(profile.id)) overridden.add(profile.id);
  if (options.json) {
    io.json({
      agents: agents.map((agent) => ({
        id: agent.profile.id,
        name: agent.profile.display_name,
        version: agent.profile.tested_versions.at(-1) ?? null,
        ...(overridden.has(agent.profile.id) ? { overridden: true } : {}),
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
  const wide = table([head, ...rows], Number.POSITIVE_INFINITY);
  const fits = wide.every((line) => widthOf(line) <= io.out.columns);
  for (const line of fits ? wide : agents.flatMap((agent) => narrowLines(agent, io))) io.print(line);
  for (const id of overridden) io.say(`${id} is built in; your profile replaces the built-in one.`);
  for (const id of await faultyProfiles(agents.map(({ profile }) => profile.id)))
    io.say(`Something is wrong in your profile ${id}.json; \`backtrail agents check ${id}\` says what.`);
  for (const id of brokenProfiles(agents.map(({ profile }) => profile.id)))
    io.say(`Your profile ${id}.json can't be used; \`backtrail agents check ${id}\` says why.`);
}
