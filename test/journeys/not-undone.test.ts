/** A person sees, before anything is taken back, what will not be. */
import { expect, test } from "bun:test";
import { appendFileSync, rmSync } from "node:fs";
import { bash, ScriptedClaude, Story, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

interface Plan {
  plan: {
    write: string[];
    delete: string[];
    notUndone: { kind: string; what: string; why: string; command?: string }[];
  };
}

const env = { BACKTRAIL_WORKER: "off" };

/** One quiet turn, one with effects in every direction, one quiet turn. */
async function worked(repository: TemporaryRepository): Promise<ScriptedClaude> {
  repository.write(".gitignore", "*.log\ndist/\n.env\n");
  repository.commit("ignore");
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository, "11111111-2222-4333-8444-555555555555");
  claude.minute = 1;
  await claude.start();
  await claude.turn("Begin", [write("one.txt", "1\n"), bash("git branch before")]);
  claude.minute = 3;
  await claude.turn("Do everything", [
    write("two.txt", "2\n"),
    write("dist/bundle.js", "x\n"),
    bash("echo built > build.log"),
    bash("echo out > ../outside.txt"),
    bash("git add two.txt && git commit --quiet -m 'Add two'"),
    bash("git branch side && git tag v1"),
    bash("false && npm install left-pad || true"),
    bash("false && npx prisma migrate dev || true"),
    bash("false && curl -X POST https://example.com/deploy || true"),
    bash("sleep 0.1 > /dev/null 2>&1 &"),
  ]);
  claude.minute = 5;
  await claude.turn("Go on", [write("three.txt", "3\n"), bash("echo more > later.log")]);
  return claude;
}

test("a rewind that moves the branch does not say that branches stay", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const why = async (...args: string[]) => {
    const { plan } = await repository.json<Plan>(["rewind", "2", "--dry-run", ...args], { env });
    return plan.notUndone.find(({ what }) => what.includes("git branch side"))?.why;
  };
  expect(await why()).toContain("commits, branches, tags and the stash stay");
  expect(await why("--reset-head")).toBe("it changed git's own state: other branches, tags and the stash stay");
});

test("what a rewind leaves as it is", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const { plan } = await repository.json<Plan>(["rewind", "2", "--dry-run"], { env });
  const rows = new Map(plan.notUndone.map((row) => [row.what, row]));
  expect(rows.get("build.log")).toEqual({
    kind: "ignored-file",
    what: "build.log",
    why: "it is ignored by git, so it is not recorded",
    command: "echo built > build.log",
  });
  expect(rows.get("dist/bundle.js")).toMatchObject({ command: "Write" });
  expect(rows.get("later.log")).toMatchObject({ command: "echo more > later.log" });
  expect([...rows.keys()].find((what) => what.endsWith("outside.txt"))).toBeDefined();
  const commits = plan.notUndone.find(({ what }) => /^1 commit since /.test(what));
  expect(commits).toMatchObject({
    why: expect.stringContaining('"Add two"'),
    command: expect.stringContaining("git commit"),
  });
  for (const [command, why] of [
    ["npm install", "packages"],
    ["prisma migrate", "database"],
    ["curl -X POST", "contacted another machine"],
    ["sleep 0.1", "background"],
  ] as const) {
    const row = plan.notUndone.find(({ what }) => what.includes(command));
    expect(row?.why, command).toContain(why);
  }
  rmSync(repository.at("../outside.txt"));
});

test("branches, tags and stashes are named with the command that made them; older ones are not", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  // git notes the real time, as it does for everybody.
  const real = (command: string) => bash(`unset GIT_COMMITTER_DATE\n${command}`);
  await claude.turn("Before", [real("git branch before && git tag older")]);
  await claude.turn("Make", [
    write("README.md", "changed\n"),
    real("git stash push --quiet -m 'put away'"),
    real("git branch side"),
    real("git tag v1"),
    real("git tag -a v2 -m two"),
  ]);
  const { plan } = await repository.json<Plan>(["undo", "1", "--dry-run"], { env });
  const rows = plan.notUndone.map(({ what, command }) => [what, command]);
  const unset = "unset GIT_COMMITTER_DATE ";
  expect(rows).toEqual([
    ["branch side", `${unset}git branch side`],
    ["tag v1", `${unset}git tag v1`],
    ["tag v2", `${unset}git tag -a v2 -m two`],
    ['stash "On main: put away"', `${unset}git stash push --quiet -m 'put away'`],
  ]);
  expect(JSON.stringify(rows)).not.toContain("before");
  expect(JSON.stringify(rows)).not.toContain("older");
});

test("an undo lists side effects of its own turn alone", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const first = await repository.json<Plan>(["undo", "3", "--dry-run"], { env });
  expect(first.plan.notUndone.map(({ what }) => what).filter((what) => /log|commit|npm/.test(what))).toEqual([]);
  const story = new Story(repository);
  await story.run(["undo", "2", "--dry-run"], { minute: 7, env });
  const shown = story.toString().replace(/\/\S+\/outside.txt/, "<outside>/outside.txt");
  expect(shown.replace(/[0-9a-f]{7,} "Add two"/, '<id> "Add two"')).toMatchSnapshot();
  rmSync(repository.at("../outside.txt"));
});

test("a long conversation is read from where it matters", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("First", [write("one.txt", "1\n")]);
  const filler = `${JSON.stringify({ type: "progress", text: "x".repeat(1 << 20) })}\n`;
  for (let i = 0; i < 20; i++) appendFileSync(claude.transcript.path, filler);
  await claude.turn("Second", [write("two.txt", "2\n"), bash("false && npm install x || true")]);
  for (let i = 0; i < 20; i++) appendFileSync(claude.transcript.path, filler);
  await claude.turn("Third", [write("three.txt", "3\n")]);
  const { plan } = await repository.json<Plan>(["undo", "2", "--dry-run"], { env });
  expect(plan.notUndone.map(({ what }) => what)).toEqual(["`false && npm install x || true`"]);
});

test("an agent in the middle of a turn is named until it is done", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Begin", [write("one.txt", "1\n")]);
  await claude.begin("Go on\nand on");
  await claude.act(write("two.txt", "2\n"));
  const rows = async () =>
    (await repository.json<Plan>(["rewind", "1", "--dry-run"], { env })).plan.notUndone.map(({ what }) => what);
  expect(await rows()).toEqual(['claude-code is working on "Go on and on"']);
  await claude.finish();
  expect(await rows()).toEqual([]);
});
