/** Searches, which index what is new first: killed anywhere, the next one finds everything once. */
import type { Operation } from "./operation.ts";

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
];
