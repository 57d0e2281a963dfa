/** Connects one agent: installs its hooks, or says how its turns are recorded without. */
import type { Agent } from "../agents/contract/agent.ts";
import type { Scope } from "../agents/contract/profile.ts";
import { commandsByHand, connectionOf } from "../agents/hooks/connection.ts";
import { type InstallOptions, type InstallReport, install } from "../agents/hooks/install.ts";
import { SetupError } from "./problems.ts";

export async function connect(agent: Agent, scope: Scope, options: InstallOptions): Promise<InstallReport> {
  const { id, display_name: name } = agent.profile;
  const needless = options.trust && !agent.trust ? [whyTrustIsNeedless(agent)] : [];
  const by = connectionOf(agent);
  if (by === "none") throw new SetupError("usage", { kind: "agent-tells-nothing", agent: id, name });
  if (by === "hooks") {
    const done = await install(agent, scope, options);
    return { ...done, notes: [...done.notes, ...needless] };
  }
  const commands = by === "by-hand" ? commandsByHand(agent, scope, options) : [];
  const notes =
    by === "watch" ? [`${name} has no hooks: it is recorded while \`backtrail watch\` runs beside it.`] : [];
  return { agent: id, scope: "local", files: [], notes: [...notes, ...needless], instead: { by, commands } };
}

function whyTrustIsNeedless({ profile: { display_name: name, hooks } }: Agent): string {
  if (hooks?.review !== undefined) return `${name}: --trust can't answer that for you.`;
  return `${name} does not review hooks, so --trust has no effect.`;
}
