/** Which commit is tied to which conversation, however the commit comes about. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bash, ScriptedClaude, temporaryFolder, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, enabled, gitWith, inCheckpoint, promptsOf, settled, withTurn } from "./commits.ts";

/** The agent commits a file while its turn goes on. */
async function commitWithin(claude: ScriptedClaude): Promise<void> {
  await claude.begin("Add a greeting and commit it");
  await claude.act(write("hello.txt", "hello\n"));
  await claude.act(bash("git add hello.txt && git commit --quiet --message Greet"));
}

test("the agent commits in the middle of its turn: the checkpoint is completed at the turn's end", async () => {
  using repository = await enabled();
  const claude = new ScriptedClaude(repository);
  await commitWithin(claude);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  expect(id).not.toBe("");
  await settled(repository);
  expect(JSON.parse(inCheckpoint(repository, id, "0/metadata.json")).files_touched).toEqual(["hello.txt"]);
  await claude.finish("All done");
  await settled(repository);
  expect(inCheckpoint(repository, id, "0/full.jsonl")).toContain("All done");
  expect(promptsOf(repository, id)).toBe("Add a greeting and commit it");

  repository.write("hello.txt", "by hand\n");
  repository.commit("By hand");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test.each([true, false])(
  "a commit in the middle of a turn has its prompt and tokens alone (worker: %p)",
  async (soon) => {
    using repository = await enabled();
    const claude = new ScriptedClaude(repository);
    await commitWithin(claude);
    if (soon) await settled(repository);
    await claude.act(write("more.txt", "more\n"));
    await claude.finish("All done");
    if (soon) await settled(repository);
    await claude.turn("Add an ending", [write("bye.txt", "bye\n")]);
    repository.commit("End");
    await settled(repository);
    const [first = ""] = checkpointsOf(repository, "HEAD~1");
    const [second = ""] = checkpointsOf(repository, "HEAD");
    expect([promptsOf(repository, first), promptsOf(repository, second)]).toEqual([
      "Add a greeting and commit it",
      "Add an ending",
    ]);
    const turns = (id: string) => JSON.parse(inCheckpoint(repository, id, "0/metadata.json")).save_step_count;
    expect([turns(first), turns(second)]).toEqual([1, 1]);
  },
);

test("a turn that was cut off after its commit is completed once its agent is known to be gone", async () => {
  using repository = await enabled();
  const claude = new ScriptedClaude(repository);
  await commitWithin(claude);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await claude.begin("Another prompt, after Esc");
  await settled(repository);
  expect(inCheckpoint(repository, id, "0/full.jsonl")).toContain("git commit --quiet");
  expect(promptsOf(repository, id)).toBe("Add a greeting and commit it");
});

test("two sessions behind one commit are in one checkpoint, each with its own files", async () => {
  using repository = await enabled();
  const [one, two] = [new ScriptedClaude(repository), new ScriptedClaude(repository)];
  await one.turn("First part", [write("one.txt", "1\n")]);
  await two.turn("Second part", [write("two.txt", "2\n")]);
  repository.commit("Both");
  const [id = "", ...more] = checkpointsOf(repository, "HEAD");
  expect(more).toEqual([]);
  await settled(repository);
  expect(JSON.parse(inCheckpoint(repository, id, "metadata.json")).files_touched).toEqual(["one.txt", "two.txt"]);
  const files = [0, 1].map((n) => JSON.parse(inCheckpoint(repository, id, `${n}/metadata.json`)));
  const bySession = new Map(files.map((metadata) => [metadata.session_id, metadata.files_touched]));
  expect(bySession.get(one.session)).toEqual(["one.txt"]);
  expect(bySession.get(two.session)).toEqual(["two.txt"]);
});

test("if two turns run at once, a commit belongs to the turn that changed its file", async () => {
  using repository = await enabled();
  const [one, two] = [new ScriptedClaude(repository), new ScriptedClaude(repository)];
  await one.begin("First part");
  await two.begin("Second part");
  await one.act(write("one.txt", "1\n"));
  await two.act(write("two.txt", "2\n"));
  for (const [name, claude] of [
    ["one.txt", one],
    ["two.txt", two],
  ] as const) {
    repository.git("add", name);
    repository.git("commit", "--quiet", "--message", name);
    const [id = ""] = checkpointsOf(repository, "HEAD");
    await settled(repository);
    const summary = JSON.parse(inCheckpoint(repository, id, "metadata.json"));
    expect(summary.sessions).toHaveLength(1);
    expect(JSON.parse(inCheckpoint(repository, id, "0/metadata.json")).session_id).toBe(claude.session);
  }
  await one.finish();
  await two.finish();
  await settled(repository);
  expect(readdirSync(repository.at(".git/backtrail/worktrees/main/pending"))).toEqual([]);
});

test("files that a commit leaves behind belong to the next one, with the prompt that made them", async () => {
  using repository = await enabled();
  const claude = new ScriptedClaude(repository);
  await claude.turn("Two files", [write("a.txt", "a\n"), write("b.txt", "b\n")]);
  repository.git("add", "a.txt");
  repository.git("commit", "--quiet", "--message", "a");
  repository.commit("b");
  const [first = ""] = checkpointsOf(repository, "HEAD~");
  const [second = ""] = checkpointsOf(repository, "HEAD");
  expect(second).not.toBe("");
  expect(second).not.toBe(first);
  await settled(repository);
  expect(JSON.parse(inCheckpoint(repository, first, "metadata.json")).files_touched).toEqual(["a.txt"]);
  expect(JSON.parse(inCheckpoint(repository, second, "metadata.json")).files_touched).toEqual(["b.txt"]);
  expect(promptsOf(repository, second)).toBe("Two files");
});

test("a part of a file, as by git add -p: the rest is linked too", async () => {
  using repository = await enabled();
  const claude = new ScriptedClaude(repository);
  repository.write("list.txt", "1\n2\n3\n");
  repository.commit("list");
  await claude.turn("Change both ends", [write("list.txt", "one\n2\nthree\n")]);
  const part = execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: repository.path, input: "one\n2\n3\n" });
  repository.git("update-index", "--cacheinfo", `100644,${String(part).trim()},list.txt`);
  repository.git("commit", "--quiet", "--message", "first end");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  repository.commit("second end");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  repository.write("list.txt", "mine\n");
  repository.commit("by hand");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("the next checkpoint begins where the last one ended", async () => {
  const { repository, claude } = await withTurn();
  using _ = repository;
  repository.commit("Greet");
  await claude.turn("Now say goodbye", [write("bye.txt", "bye\n")]);
  repository.commit("Part");
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await settled(repository);
  expect(promptsOf(repository, id)).toBe("Now say goodbye");
  const { checkpoint_transcript_start: start } = JSON.parse(inCheckpoint(repository, id, "0/metadata.json"));
  const lines = inCheckpoint(repository, id, "0/full.jsonl").split("\n");
  expect(lines.slice(0, start).join("\n")).not.toContain("goodbye");
  expect(lines[start]).toContain("goodbye");
});

test("stashed, pulled over and popped, a turn's files are still linked", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("stash", "--quiet", "--include-untracked");
  repository.write("pulled.txt", "pulled\n");
  repository.git("add", "pulled.txt");
  repository.git("commit", "--quiet", "--message", "Pulled");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  await settled(repository);
  repository.git("stash", "pop", "--quiet");
  repository.commit("Greet");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("on a detached HEAD the checkpoint names no branch", async () => {
  using repository = await enabled();
  repository.git("checkout", "--quiet", "--detach");
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
  repository.commit("Greet");
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await settled(repository);
  expect(JSON.parse(inCheckpoint(repository, id, "metadata.json"))).not.toHaveProperty("branch");
});

test("a commit from another terminal while a turn runs: linked only if the turn changed what it takes", async () => {
  using repository = await enabled();
  repository.write("mine.txt", "mine\n");
  const claude = new ScriptedClaude(repository);
  await claude.begin("Add a greeting");
  await claude.act(write("hello.txt", "hello\n"));
  repository.git("add", "mine.txt");
  repository.git("commit", "--quiet", "--message", "Mine");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.commit("Greet");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  await claude.finish();
});

test("a session that has ended is linked by what it left; a commit of other files is not", async () => {
  const { repository, claude } = await withTurn();
  using _ = repository;
  await claude.end();
  repository.write("mine.txt", "mine\n");
  repository.git("add", "mine.txt");
  repository.git("commit", "--quiet", "--message", "Mine");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.commit("Greet");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("an editor that is left without a message gives the commit up; one with a message keeps the trailer", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("add", "--all");
  const head = repository.git("rev-parse", "HEAD");
  expect(() => gitWith(repository, { GIT_EDITOR: "true" }, "commit")).toThrow();
  expect(repository.git("rev-parse", "HEAD")).toBe(head);
  const insert = 'sh -c \'printf "%s\\n" "Greet them" >new && cat "$0" >>new && mv new "$0"\'';
  gitWith(repository, { GIT_EDITOR: insert }, "commit", "--verbose");
  expect(repository.git("log", "-1", "--format=%s")).toBe("Greet them");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  expect(repository.git("log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)").trim()).toHaveLength(12);
});

test("whoever takes the trailer out gets no checkpoint, and no link later", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("add", "--all");
  gitWith(repository, { GIT_EDITOR: "sh -c 'echo Greet >\"$0\"'" }, "commit");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.write("hello.txt", "changed\n");
  repository.commit("Again");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("a repository's first commit is linked", async () => {
  using repository = temporaryRepository({ empty: true });
  await repository.run(["enable", "--agent", "claude-code"]);
  await new ScriptedClaude(repository).turn("Begin", [write("hello.txt", "hello\n")]);
  repository.commit("first");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  await settled(repository);
});

test("each worktree has its own sessions", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("worktree", "add", "--quiet", "-b", "side", "side");
  repository.write("side/hello.txt", "other\n");
  execFileSync("git", ["add", "--all"], { cwd: repository.at("side"), env: repository.environment() });
  execFileSync("git", ["commit", "--quiet", "-m", "Side"], {
    cwd: repository.at("side"),
    env: repository.environment(),
  });
  expect(checkpointsOf(repository, "refs/heads/side")).toEqual([]);
});

test("undone changes no longer wait for a commit", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  repository.git("clean", "--quiet", "--force", "hello.txt");
  await settled(repository);
  expect(readdirSync(repository.at(".git/backtrail/worktrees/main/pending"))).toEqual([]);
  repository.write("hello.txt", "mine\n");
  repository.commit("Mine");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("a repository with SHA-256 has checkpoints too", async () => {
  using repository = temporaryFolder();
  repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main");
  await repository.run(["enable", "--agent", "claude-code"]);
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
  repository.commit("Greet");
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await settled(repository);
  expect(promptsOf(repository, id)).toBe("Add a greeting");
  expect(repository.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test("commit_linking = never: no trailer, no checkpoint", async () => {
  const { repository } = await withTurn();
  using _ = repository;
  await repository.run(["config", "set", "commit_linking", "never"]);
  repository.commit("Greet");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("a commit of named paths only", async () => {
  using repository = await enabled();
  const claude = new ScriptedClaude(repository);
  repository.write("mine.txt", "1\n");
  repository.commit("mine");
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  repository.write("mine.txt", "2\n");
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--message", "Mine", "mine.txt");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
  repository.git("commit", "--quiet", "--message", "Greet", "hello.txt");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("names that git would quote are linked like others", async () => {
  using repository = await enabled();
  const name = 'a "b"\tc *é.txt';
  await new ScriptedClaude(repository).turn("Odd name", [write(name, "x\n")]);
  repository.commit("Odd");
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await settled(repository);
  expect(JSON.parse(inCheckpoint(repository, id, "metadata.json")).files_touched).toEqual([name]);
});

test("a session in a linked worktree is linked there, with the hooks of the whole repository", async () => {
  using repository = await enabled();
  repository.git("worktree", "add", "--quiet", "-b", "side", "../side");
  const side = join(repository.path, "..", "side");
  const session = randomUUID();
  const transcript = join(repository.home, "side.jsonl");
  const tell = (verb: string, name: string, more: object = {}) => {
    const payload = { session_id: session, transcript_path: transcript, cwd: side, hook_event_name: name, ...more };
    return repository.hook("claude-code", verb, payload, { cwd: side, env: { CLAUDE_PROJECT_DIR: side } });
  };
  await tell("user-prompt-submit", "UserPromptSubmit", { prompt: "On the side" });
  writeFileSync(join(side, "side.txt"), "side\n");
  await tell("stop", "Stop", { stop_hook_active: false, last_assistant_message: "Done." });
  for (const args of [
    ["add", "--all"],
    ["commit", "--quiet", "--message", "Side"],
  ]) {
    execFileSync("git", args, { cwd: side, env: repository.environment() });
  }
  const [id = ""] = checkpointsOf(repository, "refs/heads/side");
  expect(id).not.toBe("");
  await repository.run(["worker", side], { cwd: side });
  await settled(repository);
  expect(promptsOf(repository, id)).toBe("On the side");
  expect(JSON.parse(inCheckpoint(repository, id, "metadata.json"))).toMatchObject({ branch: "side" });
});
