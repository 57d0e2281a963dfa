/** A person enables Backtrail, lets an agent work twice, and looks at what was recorded. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { bash, executable, runProgram, ScriptedClaude, Story, temporaryRepository, write } from "../support/index.ts";
import { Recording } from "../support/recording.ts";

const env = { BACKTRAIL_WORKER: "off" };

test("from enable to log, show, diff and save", async () => {
  using repository = temporaryRepository();
  const story = new Story(repository);
  await story.run(["status"]);
  await story.run(["log"]);
  await story.run(["enable", "--agent", "claude"], { minute: 0 });
  expect(repository.git("status", "--porcelain")).toBe("");
  await story.run(["log"], { env });

  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  claude.minute = 1;
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello\n")], "There is a greeting now.");
  claude.minute = 10;
  await claude.turn("Be louder", [bash("echo HELLO > greeting.txt && echo more > more.txt")]);

  const at = { minute: 13, env };
  await story.run(["log"], at);
  await story.run(["show"], at);
  await story.run(["show", "prev"], at);
  await story.run(["diff", "prev", "last", "--stat"], at);
  await story.run(["diff", "2", "1"], at);
  await story.run(["diff", "--paths", "more.*"], at);
  await story.run(["diff", "last"], at);
  await story.run(["save", "before", "lunch"], at);
  await story.run(["show", "before lunch"], at);
  await story.run(["log", "--limit", "1"], at);
  await story.run(["status"], at);
  await story.run(["disable"], at);
  await story.run(["status"], at);
  expect(repository.exists(".claude")).toBe(false);
  expect(story.toString()).toMatchSnapshot();
});

test("the log as JSON has exactly the promised fields", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write", [write("a.txt", "a\n")]);
  const { steps } = await repository.json<{ steps: Record<string, unknown>[] }>(["log"], { env });
  const fields = "id session agent kind turn time prompt name parent files hasTranscript head branch".split(" ");
  for (const step of steps) expect(Object.keys(step)).toEqual(fields);
  expect(steps.map(({ kind }) => kind).slice(0, 1)).toEqual(["turn-end"]);
  expect(steps[0]?.["files"]).toEqual({ added: ["a.txt"], modified: [], deleted: [] });
  const { step } = await repository.json<{ step: { tokens: unknown; response: string } }>(
    ["show", String(steps[0]?.["id"])],
    { env },
  );
  expect(step.response).toBe("Done.");
});

test("the status as JSON has exactly the promised fields, and asking changes nothing", async () => {
  using before = temporaryRepository();
  const off = await before.json<Record<string, unknown>>(["status"]);
  expect(off).toMatchObject({ enabled: false, sessions: [] });
  expect(off["agents"]).toContainEqual({
    id: "claude-code",
    hooks: "absent",
    scope: null,
    heard: false,
    lastHeard: null,
    problems: [],
    worktrees: [],
  });
  expect(before.exists(".git/backtrail")).toBe(false);

  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.hook("SessionStart", { source: "startup" });
  await recording.prompt("Write");
  repository.write("a.txt", "a\n");
  await recording.hook("Stop", recording.answer("Done."));
  await recording.prompt("Never answered");
  const found = readdirSync(repository.at(".git"), { recursive: true }).sort();
  const status = await repository.json<Record<string, unknown>>(["status"], { env });
  expect(status).toEqual({
    enabled: true,
    store: { kind: "repository" },
    strategy: "manual-commit",
    tier: "balanced",
    agents: expect.arrayContaining([
      {
        id: "claude-code",
        hooks: "installed",
        scope: "local",
        heard: true,
        lastHeard: expect.stringMatching(/^\d{4}-/),
        problems: [],
        worktrees: [],
      },
    ]),
    sessions: [
      {
        id: recording.session,
        agent: "claude-code",
        phase: "ACTIVE",
        turns: 2,
        steps: 3,
        transcript: recording.transcript.path,
        parent: null,
      },
    ],
    pending: [{ agent: "claude-code", session: recording.session, files: ["a.txt"] }],
    push: { enabled: false, remote: "origin", pushed: null, waiting: null, error: null, next: null },
  });
  expect(readdirSync(repository.at(".git"), { recursive: true }).sort()).toEqual(found);
});

test("a pipe closed early is not an error, and a slow one gets everything", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "empty"], { env });
  repository.write("long.txt", "a line that is not very long\n".repeat(100_000));
  const shell = (script: string) =>
    runProgram("bash", ["-c", script, executable()], { cwd: repository.path, env: repository.environment(env) });
  const closed = await shell(`"$0" diff empty | head -n 1; echo "\${PIPESTATUS[0]}"`);
  expect(closed).toMatchObject({ stdout: "diff --git a/long.txt b/long.txt\n0\n", stderr: "" });
  const slow = await shell(`"$0" diff empty | (sleep 0.3; grep -c "^+a line")`);
  expect(slow).toMatchObject({ stdout: "100000\n", stderr: "" });
});

test("status counts the steps of this work tree, and says if there are others", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await new ScriptedClaude(repository).turn("Begin", [write("one.txt", "1\n")]);
  repository.git("worktree", "add", "--quiet", "../second");
  const line = async (cwd: string) => (await repository.run(["status"], { cwd })).stdout.split("\n")[1];
  expect(await line(".")).toStartWith("2 steps in this repository.");
  expect(await line("../second")).toStartWith("0 steps in this work tree, 2 in the repository.");
});
