/** Commits, and the checkpoints that follow them. */
import type { Operation } from "./operation.ts";

export const commits: readonly Operation[] = [
  {
    name: "commit",
    points: ["commit:made", "commit:intent", "commit:queued", "commit:pending", "commit:condensed"],
    start: () => ({ program: "git", args: ["commit", "--quiet", "--all", "--message", "Work"] }),
  },
  {
    name: "worker: condense",
    points: ["checkpoint:objects"],
    async prepare(world) {
      world.repository.commit("With a checkpoint that waits");
    },
    start: (world) => ({ args: ["worker", world.repository.path] }),
  },
];
