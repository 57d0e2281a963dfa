/** Forks: made, taken, dropped. There is a whole one or none at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Fork, said } from "../../journeys/forks.ts";
import { filesIn, type World } from "../killed-world.ts";
import { type Operation, restore, SAVE } from "./operation.ts";

const NAME = "again";
const DIRECTORY = (world: World) => `${world.repository.path}.forks/${NAME}`;

const MAKING = ["fork:record", "worktree:branch", "worktree:added", "worktree:marked", "fork:worktree"];
const DROPPING = [
  "fork:saved",
  "fork:kept",
  "fork:dropping",
  "fork:renamed",
  "fork:nested",
  "removal:emptied",
  "fork:removed",
  "fork:forgotten",
  "fork:unbranched",
];

export const forks: readonly Operation[] = [
  {
    name: "fork",
    points: [
      ...MAKING,
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
    points: DROPPING,
    sealed: "fork:renamed",
    prepare: forkWithWork,
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
  {
    name: "fork, and files of the user's where it was to be",
    points: [...MAKING, "fork:hooks"],
    start: (world) => ({ args: ["fork", world.target, "--branch", NAME] }),
    meanwhile: putOwnFile,
    look: names,
    wrong: ownFileLost,
  },
  {
    name: "fork drop, and files of the user's where it was",
    points: DROPPING,
    sealed: "fork:renamed",
    prepare: forkWithWork,
    start: () => ({ args: ["fork", "drop", NAME] }),
    meanwhile: putOwnFile,
    look: names,
    wrong: ownFileLost,
  },
];

async function forkWithWork(world: World): Promise<void> {
  await fork(world);
  writeFileSync(join(DIRECTORY(world), "new.txt"), "work\n");
  world.repository.git("-C", DIRECTORY(world), "add", "--all");
  world.repository.git("-C", DIRECTORY(world), "commit", "--quiet", "--message", "work");
}

/** In a directory of the user's own where there is none, in the fork's where that is there. */
function putOwnFile(world: World): void {
  mkdirSync(DIRECTORY(world), { recursive: true });
  writeFileSync(join(DIRECTORY(world), "own.txt"), "own\n");
}

/** Forks and branches alone: the user's own directory stays in any case. */
async function names({ repository }: World): Promise<unknown> {
  const { forks: found } = await repository.json<{ forks: Fork[] }>(["fork", "list"]);
  return {
    forks: found.map(({ name, state }) => ({ name, state })),
    branches: repository.git("branch", "--list"),
    worktrees: repository.git("worktree", "list").split("\n").length,
  };
}

/** The file stays where it is as long as nobody drops the fork that it is in, and is in a step then. */
async function ownFileLost(world: World): Promise<string | null> {
  const file = join(DIRECTORY(world), "own.txt");
  if (!existsSync(file) || readFileSync(file, "utf8") !== "own\n") return "The user's file is lost.";
  const { forks: found } = await world.repository.json<{ forks: Fork[] }>(["fork", "list"]);
  if (found.length === 0) return existsSync(join(DIRECTORY(world), ".git")) ? "It still is a work tree." : null;
  await world.run("fork", "drop", NAME, "--yes");
  if (existsSync(file)) return "The fork is still there.";
  await world.run("rewind", `fork ${NAME}`, "--yes");
  return world.repository.read("own.txt") === "own\n" ? null : "The user's file is in no step.";
}

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
