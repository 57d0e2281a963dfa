/** Recording, and letting go of what was recorded. */
import { rmSync, writeFileSync } from "node:fs";
import type { World } from "../killed-world.ts";
import { type Operation, SAVE, type Start } from "./operation.ts";

/** A time by which everything is past its time. */
const LATER = new Date(Date.now() + 40 * 24 * 60 * 60 * 1000).toISOString();

export const steps: readonly Operation[] = [
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
  {
    name: "save",
    points: SAVE,
    start: () => ({ args: ["save", "by hand"] }),
    async wrong(world) {
      // Made good, or it can be made again.
      await world.run("save", "by hand");
      const { plan } = await world.repository.json<{ plan: { write: string[]; delete: string[] } }>([
        "rewind",
        "by hand",
        "--dry-run",
      ]);
      return plan.write.length + plan.delete.length === 0 ? null : `It holds other files: ${JSON.stringify(plan)}`;
    },
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
