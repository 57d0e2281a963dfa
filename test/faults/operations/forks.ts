/** Forks: made, taken, dropped. There is a whole one or none at all. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Fork, said } from "../../journeys/forks.ts";
import { filesIn, type World } from "../killed-world.ts";
import { type Operation, restore, SAVE } from "./operation.ts";

const NAME = "again";
const DIRECTORY = (world: World) => `${world.repository.path}.forks/${NAME}`;

export const forks: readonly Operation[] = [
  {
    name: "fork",
    points: [
      "fork:record",
      "fork:worktree",
      ...restore(2, "restore:files", "restore:index", "restore:recorded"),
      "fork:files",
      "fork:hooks",
      "fork:staged",
      "fork:chat",
      "fork:ready",
    ],
    sealed: "fork:worktree",
    start: (world) => ({ args: ["fork", world.target, "--branch", NAME] }),
    look,
    async wrong(world, isAfter) {
      if (!isAfter) await fork(world);
      const files = filesIn(DIRECTORY(world));
      if (JSON.stringify(files) !== JSON.stringify(world.past.filter((line) => !line.startsWith("build.log "))))
        return `It has not the files of its step: ${files}`;
      await world.run("fork", "drop", NAME);
      return gone(world);
    },
  },
  {
    name: "fork take",
    points: [...SAVE, ...restore(2)],
    sealed: "restore:journal",
    async prepare(world) {
      await fork(world);
      writeFileSync(join(DIRECTORY(world), "README.md"), "theirs\n");
      writeFileSync(join(DIRECTORY(world), "theirs.txt"), "theirs\n");
    },
    start: () => ({ args: ["fork", "take", NAME, "--yes"] }),
    look,
    async wrong(world, isAfter) {
      if (!isAfter) await world.run("fork", "take", NAME, "--yes");
      const { repository } = world;
      if (repository.read("README.md") + repository.read("theirs.txt") !== "theirs\ntheirs\n") return "It is not here.";
      await world.run("redo", "--yes");
      return JSON.stringify(world.files()) === JSON.stringify(world.present) ? null : "A redo does not take it back.";
    },
  },
  {
    name: "fork drop",
    points: ["fork:saved", "fork:dropping", "fork:kept", "fork:renamed", "fork:removed", "fork:unbranched"],
    sealed: "fork:dropping",
    async prepare(world) {
      await fork(world);
      writeFileSync(join(DIRECTORY(world), "new.txt"), "work\n");
      world.repository.git("-C", DIRECTORY(world), "add", "--all");
      world.repository.git("-C", DIRECTORY(world), "commit", "--quiet", "--message", "work");
    },
    start: () => ({ args: ["fork", "drop", NAME] }),
    look,
    async wrong(world, isAfter) {
      if (!isAfter) await world.run("fork", "drop", NAME);
      const { repository } = world;
      const kept = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/dropped");
      if (kept === "" || repository.git("show", `${kept}:new.txt`) !== "work") return "Its commit is lost.";
      await world.run("rewind", `fork ${NAME}`, "--yes");
      return repository.read("new.txt") === "work\n" ? gone(world) : "Its last state is lost.";
    },
  },
];

async function fork(world: World): Promise<void> {
  await world.run("fork", world.target, "--branch", NAME);
}

/** Everything that a fork is: its files and what is staged there, its conversation, and what git knows of it. */
async function look(world: World): Promise<unknown> {
  const { repository } = world;
  const found = (await repository.json<{ forks: Fork[] }>(["fork", "list"])).forks;
  return {
    forks: found.map(({ name, state, directory, chat }) => ({
      name,
      state,
      files: filesIn(directory),
      status: repository.git("-C", directory, "status", "--porcelain"),
      hooks: existsSync(join(directory, ".claude/settings.local.json")),
      chat: chat ? said(chat.file) : null,
    })),
    branches: repository.git("branch", "--list"),
    worktrees: repository.git("worktree", "list").split("\n").length,
    directories: existsSync(dirname(DIRECTORY(world))) ? readdirSync(dirname(DIRECTORY(world))) : [],
  };
}

/** Nothing of it is anywhere. */
async function gone(world: World): Promise<string | null> {
  const records = world.repository.at(".git/backtrail/forks");
  const left = {
    ...((await look(world)) as object),
    branches: world.repository.git("branch", "--list", NAME),
    records: existsSync(records) ? readdirSync(records) : [],
  };
  const nothing = { forks: [], branches: "", worktrees: 1, directories: [], records: [] };
  return JSON.stringify(left) === JSON.stringify(nothing) ? null : `Something of it is left: ${JSON.stringify(left)}`;
}
