/**
 * Everything that may be killed halfway, one row each: how the world is made ready for it, how it is started, and the points at
 * which it may die. To add an operation, add a row; the harness (`kills.ts`) does the rest.
 */
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { executable } from "../support/index.ts";
import type { World } from "./killed-world.ts";

export interface Operation {
  name: string;
  /** Fault points that it passes (`base/fault.ts`). */
  points: readonly string[];
  /** What comes before it, once. The state after this is what "before" means. */
  prepare?(world: World): Promise<void>;
  start(world: World): Start;
  /** What else must hold after it was killed and made good: what is wrong, or null. */
  wrong?(world: World): Promise<string | null>;
  /** Steps may go by it (pruning); otherwise every one that was there stays. */
  drops?: true;
}

export interface Start {
  program?: string;
  args: string[];
  input?: string;
  env?: Record<string, string>;
}

const SAVE = ["save:objects", "save:journal", "save:ref", "save:listed", "save:state"];
const RESTORE = [
  "restore:safety",
  "restore:staged",
  "restore:journal",
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `restore:file:${n}`),
  "restore:aside:5",
  "restore:deleted",
  "restore:files",
  "restore:settled",
  "restore:head",
  "index:locked",
  "index:changed",
  "restore:index",
  "restore:chat",
  "restore:recorded",
];

/** A time by which everything is past its time. */
const LATER = new Date(Date.now() + 40 * 24 * 60 * 60 * 1000).toISOString();

export const OPERATIONS: readonly Operation[] = [
  {
    name: "hook at a prompt",
    points: SAVE,
    start: (world) => hook(world, "user-prompt-submit", "UserPromptSubmit", { prompt: "Third" }),
  },
  {
    name: "hook at a turn's end",
    points: SAVE,
    async prepare(world) {
      await world.agent.begin("Third");
      world.repository.write("third.txt", "third\n");
    },
    start: (world) => hook(world, "stop", "Stop"),
  },
  { name: "save", points: SAVE, start: () => ({ args: ["save", "by hand"] }) },
  {
    name: "rewind",
    points: [...SAVE, ...RESTORE],
    start: (world) => ({ args: ["rewind", world.target, "--yes"] }),
  },
  {
    name: "redo",
    points: [...SAVE, ...RESTORE].filter((point) => point !== "restore:aside:5"),
    async prepare(world) {
      await world.run("rewind", world.target, "--yes");
    },
    start: () => ({ args: ["redo", "--yes"] }),
  },
  {
    name: "undo",
    points: [
      ...SAVE,
      "restore:safety",
      "restore:staged",
      "restore:journal",
      "restore:file:0",
      "restore:files",
      "restore:recorded",
    ],
    start: () => ({ args: ["undo", "last", "--yes"] }),
  },
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
    name: "worker: prune",
    points: ["prune:ref"],
    drops: true,
    async prepare(world) {
      rmSync(world.repository.at(".git/backtrail/pruned"), { force: true });
    },
    start: (world) => ({ args: ["worker", world.repository.path], env: { BACKTRAIL_CLOCK: LATER } }),
  },
  {
    name: "clean",
    points: ["prune:ref"],
    drops: true,
    start: () => ({ args: ["clean", "--yes"], env: { BACKTRAIL_CLOCK: LATER } }),
  },
  {
    name: "forget",
    points: [
      "forget:journal",
      "prune:ref",
      "prune:dropped",
      "forget:steps",
      "forget:objects",
      "forget:checkpoints",
      "forget:files",
    ],
    drops: true,
    async prepare(world) {
      world.repository.commit("With a checkpoint");
      await world.run("worker", world.repository.path);
    },
    start: (world) => ({ args: ["forget", world.agent.session, "--yes"] }),
    async wrong({ repository, agent }) {
      const list = repository.read(".git/backtrail/steps.jsonl").includes(agent.session);
      const names = repository.git("ls-tree", "-r", "--name-only", "refs/heads/entire/checkpoints/v1");
      const said = names.includes("full.jsonl");
      const known = repository.git("for-each-ref", "refs/backtrail/sessions") !== "";
      return list === said && said === known
        ? null
        : `Forgotten by halves: list ${list}, ref ${known}, checkpoint ${said}.`;
    },
  },
  {
    name: "doctor: the list of steps",
    points: ["index:replaced"],
    async prepare(world) {
      const list = world.repository.at(".git/backtrail/steps.jsonl");
      const [, ...lines] = (await Bun.file(list).text()).split("\n");
      writeFileSync(list, lines.join("\n"));
    },
    start: () => ({ args: ["doctor", "--fix"] }),
  },
];

function hook(world: World, verb: string, event: string, fields: Record<string, unknown> = {}): Start {
  const payload = {
    session_id: world.agent.session,
    transcript_path: world.agent.transcript.path,
    cwd: world.repository.path,
    hook_event_name: event,
    ...fields,
  };
  return { args: ["hooks", "claude-code", verb], input: JSON.stringify(payload) };
}

/** The program of a start: ours unless it says otherwise. */
export function programOf({ program }: Start): string {
  return program ?? executable();
}

/** Checkpoints that wait, by the names of their files. */
export function waiting(world: World): string[] {
  const queue = world.repository.at(".git/backtrail/queue");
  if (!statSync(queue, { throwIfNoEntry: false })) return [];
  return readdirSync(queue).flatMap((name) => /^\d+-([0-9a-f]{12})-/.exec(name)?.[1] ?? []);
}
