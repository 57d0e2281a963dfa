/** Many hooks at the same moment: every step is saved, none twice, and nothing is left lying about. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harmless, Recording } from "../support/recording.ts";

const MANY = 50;

test("fifty hooks of one session", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("many at once");
  const results = await Promise.all(
    Array.from({ length: MANY }, (_, i) => {
      repository.write(`file-${i}.txt`, `${i}\n`);
      const tool = { tool_name: "Bash", tool_input: { command: `rm file-${i}.txt` }, tool_use_id: `tool-${i}` };
      return recording.hook("PreToolUse", tool);
    }),
  );
  results.forEach(harmless);
  harmless(await recording.hook("Stop", recording.answer("Done.")));

  const steps = await recording.steps();
  expect(steps.length).toBe(MANY + 2);
  expect(steps[0]).toMatchObject({ kind: "turn-end", prompt: "many at once" });
  expect(steps[0]?.files.added.length).toBe(MANY);
  expect(recording.heldSteps().sort()).toEqual(steps.map((step) => step.id).sort());
  expect(sessionStates(recording)).toMatchObject([{ turn: 1, openTurn: null }]);
  // On a machine so slow that somebody gave up waiting for the lock, every step is still there, but not counted.
  const waited = !recording.logged().some((entry) => entry.message.includes("stayed locked"));
  if (waited) expect(sessionStates(recording)).toMatchObject([{ steps: MANY + 2 }]);
  expect(recording.logged().filter((entry) => entry.level === "error")).toEqual([]);
  expect(recording.leftovers()).toEqual([]);
  repository.git("fsck", "--full", "--strict", "--no-dangling");
}, 120_000);

test("fifty sessions in one repository", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const turn = async (i: number) => {
    const fields = { session_id: `session-${i}`, transcript_path: repository.at("..", "home", `${i}.jsonl`) };
    const start = await recording.hook("UserPromptSubmit", { ...fields, prompt: `prompt ${i}` });
    repository.write(`dir-${i}/file.txt`, `${i}\n`);
    const stop = await recording.hook("Stop", fields);
    return [start, stop];
  };
  const results = await Promise.all(Array.from({ length: MANY }, (_, i) => turn(i)));
  results.flat().forEach(harmless);

  const steps = await recording.steps();
  expect(steps.length).toBe(2 * MANY);
  expect(recording.heldSteps().sort()).toEqual(steps.map((step) => step.id).sort());
  for (let i = 0; i < MANY; i++) {
    const own = steps.filter((step) => step.session === `session-${i}`);
    expect(own.map((step) => [step.kind, step.prompt])).toEqual([
      ["turn-end", `prompt ${i}`],
      ["turn-start", `prompt ${i}`],
    ]);
    expect(repository.git("cat-file", "blob", `${work(recording, own[0]?.id)}/dir-${i}/file.txt`)).toBe(String(i));
  }
  expect(recording.logged().filter((entry) => entry.level === "error")).toEqual([]);
  expect(recording.leftovers()).toEqual([]);
  repository.git("fsck", "--full", "--strict", "--no-dangling");
}, 120_000);

test("the same hook twice, as where it was installed twice, is one turn", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  const twice = async (event: string, fields: Record<string, unknown>) => {
    const both = await Promise.all([recording.hook(event, fields), recording.hook(event, fields)]);
    both.forEach(harmless);
  };
  await twice("SessionStart", { source: "startup" });
  await twice("UserPromptSubmit", { prompt: "once", prompt_id: "p1" });
  recording.transcript.user("once", "p1");
  repository.write("a.txt", "written\n");
  await twice("Stop", { ...recording.answer("Done."), prompt_id: "p1" });
  await twice("SessionEnd", { reason: "other" });
  const steps = await recording.steps();
  expect(steps.map((step) => [step.kind, step.turn])).toEqual([
    ["turn-end", 1],
    ["turn-start", 1],
  ]);
}, 60_000);

test("a commit of the user's at the same moment", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  for (let i = 0; i < 5; i++) {
    await recording.prompt(`turn ${i}`);
    repository.write(`file-${i}.txt`, `${i}\n`);
    const stop = recording.hook("Stop", recording.answer(`Done ${i}.`));
    repository.commit(`commit ${i}`);
    harmless(await stop);
  }
  const steps = await recording.steps();
  expect(steps.map((step) => step.kind)).toEqual(Array.from({ length: 5 }, () => ["turn-end", "turn-start"]).flat());
  expect(repository.git("rev-list", "--count", "HEAD")).toBe("6");
  expect(repository.git("status", "--porcelain")).toBe("");
  repository.git("fsck", "--full", "--strict", "--no-dangling");
}, 60_000);

test("a session's lock that stays held is waited for a while, not for ever", async () => {
  using recording = await Recording.begin();
  await recording.prompt("one");
  const [name = ""] = readdirSync(join(recording.store, "sessions")).filter((entry) => entry.endsWith(".json"));
  const lock = join(recording.store, "sessions", name.replace(/json$/, "lock"));
  // The test itself holds it, and it runs.
  writeFileSync(lock, `${process.pid} -\n`);
  harmless(await recording.hook("Stop", recording.answer("Done.")));
  expect((await recording.steps())[0]?.kind).toBe("turn-end");
  expect(recording.logged().at(-1)?.message).toContain("stayed locked");
  expect(readFileSync(lock, "utf8")).toBe(`${process.pid} -\n`);
}, 60_000);

test("a ref's lock that stays held: the step is finished by whoever comes next", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("one");
  repository.write("a.txt", "written\n");
  const ref = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions");
  const lock = repository.write(`.git/${ref}.lock`, "");
  harmless(await recording.hook("Stop", recording.answer("Done.")));
  expect(recording.logged().at(-1)?.message).toContain("lock");
  expect(recording.heldSteps().length).toBe(1);
  await Bun.file(lock).delete();

  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", files: { added: ["a.txt"] } });
  expect(recording.heldSteps().length).toBe(2);
  expect(recording.leftovers()).toEqual([]);
}, 60_000);

/** The work tree of a step, as git names it. */
function work({ repository }: Recording, id = ""): string {
  const refs = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions").split("\n");
  for (const ref of refs) {
    const path = repository
      .git("ls-tree", "-r", "-d", "--name-only", ref, "steps/")
      .split("\n")
      .find((each) => each.endsWith(`/${id}/work`));
    if (path !== undefined) return `${ref}:${path}`;
  }
  return "";
}

function sessionStates(recording: Recording): unknown[] {
  const directory = join(recording.store, "sessions");
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  return names.map((name) => JSON.parse(readFileSync(join(directory, name), "utf8")));
}
