/** Going back, going forward again, and conversations that come back. */
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { commitExampleCheckpoint, ID } from "../../checkpoints/branch.ts";
import { edit, write } from "../../support/index.ts";
import type { World } from "../killed-world.ts";
import { type Operation, restore, SAVE } from "./operation.ts";

const BEHIND_THE_FILES = [
  "restore:deleted",
  "restore:files",
  "restore:head",
  "index:locked",
  "index:changed",
  "restore:index",
  "restore:chat",
  "restore:recorded",
  "restore:notified",
  "restore:settled",
];
const RESUME = ["resume:kept", "resume:written"];

/** A conversation of another machine's, and what was said since it was first brought here. */
const OTHERS = ["resume", ID, "--session", "5f0f"];
const NEWER = '{"type":"summary","summary":"later"}\n';
const replaced = new WeakMap<World, string>();

/** The conversation as the agent has it. */
const conversation = async ({ agent }: World) =>
  existsSync(agent.transcript.path) ? readFileSync(agent.transcript.path, "utf8") : null;

export const restores: readonly Operation[] = [
  {
    name: "rewind",
    points: [...SAVE, ...restore(8, "restore:aside:5", ...BEHIND_THE_FILES)],
    sealed: "restore:journal",
    start: (world) => ({ args: ["rewind", world.target, "--yes"] }),
    async wrong(world, isAfter) {
      if (!isAfter) await world.run("rewind", world.target, "--yes");
      if (!same(world.files(), world.past)) return "It does not lead to the files of that time.";
      if (world.repository.git("ls-files", "--stage") !== world.stagedThen) return "Nor to what was staged then.";
      return takenBack(world);
    },
  },
  {
    name: "rewind --reset-head",
    points: [
      ...SAVE,
      ...restore(
        8,
        ...BEHIND_THE_FILES.flatMap((point) => (point === "restore:head" ? ["restore:held", point] : point)),
      ),
    ],
    sealed: "restore:journal",
    async prepare(world) {
      world.repository.commit("Since");
      await world.run("worker", world.repository.path);
    },
    start: (world) => ({ args: ["rewind", world.target, "--reset-head", "--yes"] }),
    look: async ({ repository }) => repository.git("rev-parse", "HEAD"),
    async wrong({ repository }, isAfter) {
      const held = repository.git("for-each-ref", "--format=%(subject)", "refs/backtrail/left");
      return isAfter && held !== "Since" ? `The commit that was left is not held, but "${held}".` : null;
    },
  },
  {
    name: "redo",
    points: [...SAVE, ...restore(8, ...BEHIND_THE_FILES)],
    sealed: "restore:journal",
    async prepare(world) {
      await world.run("rewind", world.target, "--yes");
    },
    start: () => ({ args: ["redo", "--yes"] }),
    async wrong(world, isAfter) {
      if (!isAfter) await world.run("redo", "--yes");
      return same(world.files(), world.present) ? null : "It does not lead to the files as they were.";
    },
  },
  {
    name: "undo",
    points: [
      ...SAVE,
      ...restore(6, "restore:aside:5", ...BEHIND_THE_FILES.filter((point) => !point.startsWith("index:"))),
    ],
    sealed: "restore:journal",
    async prepare(world) {
      // A third turn behind the one that is taken back: it stays.
      const third = [write("src/third.ts", "third\n"), edit("src/first.ts", "first", "first and third")];
      await world.agent.turn("Third", third);
      world.present = world.files();
    },
    start: () => ({ args: ["undo", "2", "--yes"] }),
    async wrong(world, isAfter) {
      if (!isAfter) await world.run("undo", "2", "--yes");
      const isLater = (line: string) => /^src\/(?:first|third)\.ts /.test(line);
      const undone = [...world.past.filter((line) => !isLater(line)), ...world.present.filter(isLater)].sort();
      if (!same(world.files(), undone)) return "It does not lead to the files without that turn.";
      const again = await world.repository.run(["undo", "2", "--yes"]);
      if (!again.stderr.includes("is already undone")) return `It can be undone again: ${again.stderr}`;
      return takenBack(world);
    },
  },
  {
    name: "resume",
    points: RESUME,
    async prepare({ agent }) {
      rmSync(agent.transcript.path);
    },
    start: (world) => ({ args: ["resume", world.agent.session] }),
    look: conversation,
    async wrong(world) {
      await world.run("resume", world.agent.session);
      return (await conversation(world))?.includes("Second") ? null : "The conversation did not come back.";
    },
  },
  {
    name: "resume over a newer one",
    points: RESUME,
    async prepare(world) {
      const { repository } = world;
      commitExampleCheckpoint(repository);
      const { chat } = await repository.json<{ chat: { transcript: string } }>(OTHERS);
      replaced.set(world, chat.transcript);
      appendFileSync(chat.transcript, NEWER);
    },
    start: () => ({ args: [...OTHERS, "--yes"] }),
    look: async (world) => readFileSync(replaced.get(world) ?? "", "utf8"),
    async wrong(world, isAfter) {
      if (!isAfter) await world.run(...OTHERS, "--yes");
      if (readFileSync(replaced.get(world) ?? "", "utf8").includes(NEWER)) return "It did not come back.";
      return keptIn(world).includes(NEWER) ? null : "The newer conversation is lost.";
    },
  },
];

async function takenBack(world: World): Promise<string | null> {
  await world.run("redo", "--yes");
  return same(world.files(), world.present) ? null : "A redo does not take it back.";
}

function same(a: string[], b: string[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Conversations that were set aside. */
function keptIn({ repository }: World): string {
  const place = repository.at(".git/backtrail/worktrees/main/kept");
  if (!existsSync(place)) return "";
  const files = new Bun.Glob("**/*.jsonl").scanSync({ cwd: place, absolute: true });
  return [...files].map((file) => readFileSync(file, "utf8")).join("");
}
