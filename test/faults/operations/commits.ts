/** Commits, and the checkpoints that follow them. */
import { write } from "../../support/index.ts";
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
  {
    name: "worker: auto-commit",
    points: ["auto-commit:ready", "auto-commit:made", "index:locked", "index:changed"],
    commits: true,
    async prepare(world) {
      world.repository.git("checkout", "--quiet", "-b", "work");
      world.repository.commit("So far");
      await world.run("worker", world.repository.path);
      await world.run("config", "set", "strategy", "auto-commit");
      await world.agent.turn("Third", [write("third.txt", "third\n")]);
    },
    start: (world) => ({ args: ["worker", world.repository.path] }),
    async wrong({ repository }) {
      // The next worker commits what the killed one did not.
      const subject = repository.git("log", "-1", "--format=%s");
      return subject === "Third" ? null : `The last commit is: ${subject}`;
    },
  },
];
