/** Searches, which index what is new first: killed anywhere, the next one finds everything once. */
import { standIn } from "../../support/stand-in.ts";
import type { Operation } from "./operation.ts";
import { binOf, go, WORKING } from "./runs.ts";

export const searches: readonly Operation[] = [
  {
    name: "search",
    points: ["search:piece", "search:changes"],
    start: () => ({ args: ["search", "Second", "--json"], env: { BACKTRAIL_WORKER: "off" } }),
    async wrong({ repository }) {
      const { stdout } = await repository.run(["search", "Second", "field:prompt", "--json"]);
      const { hits, pending } = JSON.parse(stdout || "{}") as { hits?: { turn: number }[]; pending?: number };
      return hits?.length === 1 && pending === 0 ? null : `It finds ${JSON.stringify({ hits, pending })}.`;
    },
  },
  {
    name: "search of a run's log",
    points: ["search:piece", "search:changes", "search:stored"],
    async prepare(world) {
      standIn(binOf(world), "claude", WORKING);
      await go(world, "p1", "Look for the axolotl");
    },
    start: () => ({ args: ["search", "axolotl", "--json"], env: { BACKTRAIL_WORKER: "off" } }),
    async wrong({ repository }) {
      const { stdout } = await repository.run(["search", "axolotl", "field:prompt", "--json"]);
      const { hits, pending } = JSON.parse(stdout || "{}") as { hits?: { session: string }[]; pending?: number };
      const isWhole = hits?.length === 1 && hits[0]?.session === "p1" && pending === 0;
      return isWhole ? null : `It finds ${JSON.stringify({ hits, pending })}.`;
    },
  },
];
