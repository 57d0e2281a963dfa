/** Checkpoints to and from another machine: both sides end with the union, whoever was killed. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkpointsOf } from "../../journeys/commits.ts";
import { BRANCH, checkpointsIn, Shared, work } from "../../journeys/synced.ts";
import { TemporaryRepository } from "../../support/index.ts";
import type { World } from "../killed-world.ts";
import type { Operation } from "./operation.ts";

const FETCH = ["sync:received", "sync:fetched", "sync:merged"];
const WISH = ".git/backtrail/sync/wish.json";

export const syncs: readonly Operation[] = [
  {
    name: "sync push",
    points: [...FETCH, "sync:pushed"],
    prepare,
    start: () => ({ args: ["sync", "push", "origin"] }),
    wrong: united,
  },
  {
    name: "sync fetch",
    points: FETCH,
    prepare,
    start: () => ({ args: ["sync", "fetch", "origin"] }),
    wrong: united,
  },
  {
    name: "git push, which checkpoints follow",
    points: ["push:wished"],
    async prepare(world) {
      await prepare(world);
      await world.run("config", "set", "push.enabled", "true");
    },
    start: () => ({ program: "git", args: ["push", "--quiet", "origin", "main"] }),
    async wrong(world) {
      world.repository.git("push", "--quiet", "origin", "main");
      return followed(world);
    },
  },
  {
    name: "worker: push",
    points: [...FETCH, "sync:pushed"],
    async prepare(world) {
      await prepare(world);
      await world.run("config", "set", "push.enabled", "true");
      world.repository.git("push", "--quiet", "origin", "main");
      if (!existsSync(world.repository.at(WISH))) throw new Error("git's hook has noted no wish.");
    },
    start: (world) => ({ args: ["worker", world.repository.path, "push"] }),
    wrong: followed,
  },
  {
    name: "worker: checkpoints of an earlier version",
    points: ["checkpoints:copied", "checkpoints:moved"],
    async prepare(world) {
      await world.run("config", "set", "checkpoints.branch", "public");
      world.repository.commit("By us");
      await world.run("worker", world.repository.path);
      await world.run("config", "unset", "checkpoints.branch");
    },
    start: (world) => ({ args: ["worker", world.repository.path] }),
    async wrong(world) {
      const { repository } = world;
      await world.run("worker", repository.path);
      repository.checkpoints("fsck", "--strict", "--no-dangling");
      return repository.git("for-each-ref", BRANCH) === "" ? null : "The branch is still in the user's repository.";
    },
  },
];

/** Another machine has pushed a checkpoint; one of ours waits to be. */
async function prepare(world: World): Promise<void> {
  const { repository } = world;
  using shared = new Shared(pathOf(world));
  shared.joinedBy(repository);
  using other = new TemporaryRepository();
  execFileSync("git", ["clone", "--quiet", shared.path, other.path], { env: other.environment(), stdio: "pipe" });
  const environment = other.environment.bind(other);
  other.environment = (extra) => environment({ BACKTRAIL_WORKER: "off", ...extra });
  await other.run(["enable", "--agent", "claude-code"]);
  await work(other, "By another", "other.txt");
  await other.json(["sync", "push", "origin"]);
  repository.commit("By us");
  await world.run("worker", repository.path);
}

function pathOf({ repository }: World): string {
  return join(dirname(repository.path), "shared.git");
}

/** The next sync makes up for the one that was killed. */
async function united(world: World): Promise<string | null> {
  await world.run("sync", "push", "origin");
  return isUnited(world);
}

/** The wish has stayed until it was fulfilled. */
async function followed(world: World): Promise<string | null> {
  await world.run("worker", world.repository.path, "push");
  return existsSync(world.repository.at(WISH)) ? "The push is still waiting." : isUnited(world);
}

function isUnited(world: World): string | null {
  const { repository } = world;
  const there = (...args: string[]) => execFileSync("git", ["--git-dir", pathOf(world), ...args], { encoding: "utf8" });
  const [ours, theirs] = [
    checkpointsIn(repository.checkpoints.bind(repository)),
    checkpointsIn((...args) => there(...args)),
  ];
  const isAll = ours.length === 2 && checkpointsOf(repository, "HEAD").every((id) => ours.includes(id));
  if (!isAll || ours.join() !== theirs.join()) return `Here is ${ours.join(", ")}; there is ${theirs.join(", ")}.`;
  if (there("rev-parse", BRANCH).trim() !== repository.checkpoints("rev-parse", BRANCH)) return "The two tips differ.";
  const said = there("fsck", "--strict", "--no-dangling");
  return said === "" ? null : `git fsck there: ${said}`;
}
