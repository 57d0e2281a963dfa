/** Payloads of every agent, up to the event that they mean: in this process, thousands a second. */

import { detectAgent } from "../../../src/agents/registry/detect.ts";
import { actualAgent } from "../../../src/agents/registry/hook-origin.ts";
import { contextOf, readPayload, toEnvelope } from "../../../src/agents/registry/normalize.ts";
import { isDestructive } from "../../../src/recording/tiers/destructive.ts";
import { damaged, damagedJson } from "../mutate.ts";
import { recordedAgents } from "../seeds.ts";
import { demand, labeled, type Target, unlabeled } from "../target.ts";

export const payloads: Target = {
  name: "payloads",
  cost: 1,
  async open() {
    const agents = await recordedAgents();
    const sending = [...agents].filter(([, { payloads }]) => payloads.length > 0);
    const profiles = [...agents.values()].map(({ agent }) => agent.profile);
    return {
      input(random) {
        const [id, { payloads }] = random.pick(sending);
        const text = random.pick(payloads);
        const body = random.once(2) ? damagedJson(random, text) : damaged(random, Buffer.from(text));
        return labeled({ agent: id }, body);
      },
      async run(input) {
        const { about, body } = unlabeled(input);
        const agent = agents.get(about["agent"] ?? "")?.agent;
        demand(agent !== undefined, "The agent is not known.");
        const raw = readPayload(body.toString("utf8"), []);
        const envelope = toEnvelope(agent.profile, "stop", raw);
        const context = contextOf(agent.profile, envelope, { env: {}, cwd: "/" });
        const event = agent.toEvent(envelope, context);
        if (event) {
          demand(typeof event.sessionId === "string" && event.sessionId !== "", "An event has no session.");
          demand(!Number.isNaN(Date.parse(event.timestamp)), "An event has no time.");
          for (const value of Object.values(event.metadata)) demand(typeof value === "string", "Metadata is no text.");
        }
        isDestructive(event?.tool?.command ?? "", () => true);
        detectAgent(profiles, { payload: raw, env: {}, root: null });
        await actualAgent(agent.profile, raw, {});
      },
    };
  },
};
