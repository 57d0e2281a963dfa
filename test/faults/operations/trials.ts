/** Commands that are tried on recorded states: nothing of the user's changes, and no throwaway copy stays. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../killed-world.ts";
import type { Operation } from "./operation.ts";

const POINTS = ["recorded", "made", "cleared", "laid", "started", "ran", "kept"].map((name) => `trial:${name}`);
const COMMAND = ["sh", "-c", "echo spoilt >> src/app.ts; test ! -e new/deep/file.ts"];

export const trials: readonly Operation[] = [
  {
    name: "bisect",
    points: POINTS,
    prepare,
    start: () => ({ args: ["bisect", "--", ...COMMAND] }),
    async wrong(world) {
      const left = leftIn(world);
      if (left !== null) return left;
      const { stdout } = await world.repository.run(["bisect", "--json", "--", ...COMMAND]);
      const { found } = JSON.parse(stdout || "{}") as { found?: { prompt: string } };
      return found?.prompt === "Second" ? leftIn(world) : `It finds ${JSON.stringify(found)}.`;
    },
  },
  {
    name: "worker: check",
    points: ["check:begins", ...POINTS],
    async prepare(world) {
      await prepare(world);
      await world.run("check", "--", ...COMMAND);
    },
    start: (world) => ({ args: ["worker", world.repository.path] }),
    async wrong(world) {
      const { recent } = await world.repository.json<{ recent: { verdict: string }[] }>(["check", "status"]);
      const verdicts = recent.map(({ verdict }) => verdict).join();
      return verdicts === "fail,pass" ? leftIn(world) : `It has found ${verdicts}.`;
    },
  },
];

/** Copies are laid out in a place of the world's own. */
async function prepare({ repository }: World): Promise<void> {
  const TMPDIR = join(repository.home, "tmp");
  mkdirSync(TMPDIR);
  const environment = repository.environment.bind(repository);
  repository.environment = (extra) => environment({ TMPDIR, ...extra });
}

function leftIn({ repository }: World): string | null {
  const records = repository.at(".git/backtrail/worktrees/main/trials");
  const left = [records, join(repository.home, "tmp")].flatMap((place) =>
    existsSync(place) ? readdirSync(place) : [],
  );
  return left.length === 0 ? null : `A copy is left: ${left.join(", ")}`;
}
