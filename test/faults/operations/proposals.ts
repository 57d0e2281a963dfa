/** What an agent proposes and a person applies: killed halfway, it is applied whole or not at all, and can be taken back. */
import { McpClient } from "../../support/mcp.ts";
import type { World } from "../killed-world.ts";
import { type Operation, restore, SAVE } from "./operation.ts";

const proposals = new WeakMap<World, string>();

export const proposed: readonly Operation[] = [
  {
    name: "apply of a proposal",
    points: [...SAVE, ...restore(8, "restore:deleted", "restore:files", "restore:recorded", "restore:settled")],
    sealed: "restore:journal",
    async prepare(world) {
      await using client = await McpClient.connect(world.repository);
      const answer = await client.ask("propose_rewind", { target: world.target, reason: "It does not work." });
      proposals.set(world, /^ {2}backtrail apply ([k-z]{12})$/m.exec(answer)?.[1] ?? "");
    },
    start: (world) => ({ args: ["apply", proposals.get(world) ?? "", "--yes"] }),
    async wrong(world, isAfter) {
      if (!isAfter) await world.run("apply", proposals.get(world) ?? "", "--yes");
      if (JSON.stringify(world.files()) !== JSON.stringify(world.past)) return "It does not lead to what was proposed.";
      await world.run("redo", "--yes");
      return JSON.stringify(world.files()) === JSON.stringify(world.present) ? null : "A redo does not take it back.";
    },
  },
];
