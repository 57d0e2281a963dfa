/** Recording, and letting go of what was recorded. */
import { chmodSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../killed-world.ts";
import { type Operation, SAVE, type Start } from "./operation.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** A time by which everything is past its time. */
const LATER = new Date(Date.now() + 40 * DAY_MS).toISOString();
/** When things were last let go of, seen from then. */
const TWO_DAYS_BEFORE = new Date(Date.now() + 38 * DAY_MS).toISOString();

const OLD_LAYOUT = join(import.meta.dirname, "../../support/old-layout.ts");

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
    name: "hook at a turn's end, with files that others may not read",
    points: [...SAVE, "save:private"],
    async prepare(world) {
      await world.agent.begin("Third");
      chmodSync(world.repository.write("secret/third.txt", "third\n"), 0o600);
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
    points: ["prune:kept", "prune:ref", "prune:dropped"],
    drops: true,
    async prepare(world) {
      world.repository.write(".git/backtrail/pruned", `${TWO_DAYS_BEFORE}\n`);
    },
    start: (world) => ({ args: ["worker", world.repository.path], env: { BACKTRAIL_CLOCK: LATER } }),
    wrong: withoutConversation,
  },
  {
    name: "clean",
    points: ["prune:kept", "prune:ref", "prune:dropped"],
    drops: true,
    start: () => ({ args: ["clean", "--yes"], env: { BACKTRAIL_CLOCK: LATER } }),
    wrong: withoutConversation,
  },
  {
    name: "clean, where conversations go with their steps",
    points: ["prune:kept", "prune:ref", "prune:dropped"],
    drops: true,
    async prepare(world) {
      await world.run("config", "set", "retention.conversations", "0");
    },
    start: () => ({ args: ["clean", "--yes"], env: { BACKTRAIL_CLOCK: LATER } }),
    async wrong(world) {
      const left = (await world.steps()).some(({ kind }) => kind === "turn-end");
      return left ? withoutConversation(world) : null;
    },
  },
  {
    name: "purge",
    points: ["purge:journal", "purge:aside", "purge:refs", "purge:objects"],
    drops: true,
    async prepare(world) {
      chmodSync(world.repository.write("secret.txt", "secret\n"), 0o600);
      await world.run("save");
      await world.agent.end();
    },
    start: () => ({ args: ["purge", "--yes"] }),
    async wrong(world) {
      const { repository } = world;
      const left = (await world.steps()).length;
      const refs = repository.git("for-each-ref", "refs/backtrail");
      const files = ["conversations", "sessions", "steps.jsonl", "private.git", "purging"].filter((name) =>
        existsSync(repository.at(".git/backtrail", name)),
      );
      // Killed before its journal is whole, nothing is gone; otherwise nothing is left.
      if (left > 0) return files.includes("purging") ? "It was not finished." : withoutConversation(world);
      return refs === "" && files.length === 0 ? null : `It is left: ${[refs, ...files].join(", ")}`;
    },
  },
  {
    name: "forget",
    points: [
      "forget:journal",
      "prune:ref",
      "prune:dropped",
      "private:packed",
      "forget:steps",
      "forget:objects",
      "forget:checkpoints",
      "forget:files",
    ],
    drops: true,
    async prepare(world) {
      world.repository.commit("With a checkpoint");
      await world.run("worker", world.repository.path);
      chmodSync(world.repository.write("secret.txt", "secret\n"), 0o600);
      await world.run("save");
    },
    start: (world) => ({ args: ["forget", world.agent.session, "--yes"] }),
    async wrong({ repository, agent }) {
      const list = repository.read(".git/backtrail/steps.jsonl").includes(agent.session);
      const branch = "refs/heads/entire/checkpoints/v1";
      const names = repository.checkpoints("ls-tree", "-r", "--name-only", branch).split("\n");
      const transcript = names.find((name) => name.endsWith("full.jsonl")) ?? "";
      // What is forgotten leaves a transcript that says so, without an id of the session's lines.
      const said = repository.checkpoints("cat-file", "-p", `${branch}:${transcript}`).includes('"uuid"');
      const known = repository.git("for-each-ref", "refs/backtrail/sessions") !== "";
      return list === said && said === known
        ? null
        : `Forgotten by halves: list ${list}, ref ${known}, checkpoint ${said}.`;
    },
  },
  {
    name: "worker: conversations of an earlier version",
    points: ["conversation:joined", "migrate:files", "index:replaced", "migrate:noted", "migrate:ref"],
    start(world) {
      // Every command would migrate it first.
      Bun.spawnSync([process.execPath, OLD_LAYOUT, world.repository.path], { env: world.repository.environment() });
      return { args: ["worker", world.repository.path] };
    },
    async wrong({ repository, agent }) {
      const { stdout } = await repository.run(["export", agent.session]);
      return stdout.includes("Second") ? null : "The conversation is not what it was.";
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

/** The conversation can be shown, whether its steps are there or not. */
async function withoutConversation({ repository, agent }: World): Promise<string | null> {
  const kept = `${agent.transcript.path}.kept`;
  renameSync(agent.transcript.path, kept);
  const { stdout, stderr } = await repository.run(["export", agent.session]);
  renameSync(kept, agent.transcript.path);
  return stdout.includes("Second") ? null : `The conversation is lost: ${stderr}`;
}

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
