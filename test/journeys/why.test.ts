/** From a line back to the prompt, and from a commit to its sessions, through the real binary. */

import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { BRANCH, commitFiles, exampleCheckpoint, ID } from "../checkpoints/branch.ts";
import { bash, edit, ScriptedClaude, Story, temporaryFolder, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, settled } from "./commits.ts";

interface Why {
  commit: { subject: string } | null;
  checkpoint: string | null;
  session: string | null;
  turn: number | null;
  prompt: string | null;
  said: string | null;
}

const SESSION = "0d9c1c3e-5f0f-4b1e-9d0c-0f7d3f3a1c11";

async function enabled() {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  return { repository, claude: new ScriptedClaude(repository, SESSION), [Symbol.dispose]: () => repository.remove() };
}

describe("why", () => {
  test("a line leads to its turn before and after the commit, and to the user where it is theirs", async () => {
    using place = await enabled();
    const { repository, claude } = place;
    await claude.turn("Add a greeting", [write("hello.txt", "hello\nworld\n")], "There it is.");
    expect(await repository.json<Why>(["why", "hello.txt:1"])).toMatchObject({
      commit: null,
      session: claude.session,
      turn: 1,
      prompt: "Add a greeting",
      response: "There it is.",
    });
    repository.write("hello.txt", "hello\nworld\nmine\n");
    await claude.turn("Make it louder", [edit("hello.txt", "world", "WORLD")]);
    // A turn followed the edit.
    const { stdout } = await repository.run(["why", "hello.txt:3"]);
    expect(stdout).toContain("you; no turn of an agent is recorded for it");
    repository.commit("Greet");
    await settled(repository);
    const told = (line: number) => repository.json<Why>(["why", `hello.txt:${line}`]);
    const [checkpoint = ""] = checkpointsOf(repository, "HEAD");
    expect(await told(1)).toMatchObject({
      checkpoint,
      commit: { subject: "Greet" },
      turn: 1,
      prompt: "Add a greeting",
    });
    expect(await told(2)).toMatchObject({ commit: { subject: "Greet" }, turn: 2, prompt: "Make it louder" });
    expect(await told(3)).toMatchObject({ commit: { subject: "Greet" }, turn: null, prompt: null });
  });

  test("a commit by the agent in its turn", async () => {
    using place = await enabled();
    const { repository, claude } = place;
    await claude.turn("Write and commit", [
      write("a.txt", "by the agent\n"),
      bash("git add --all && git commit --quiet --message 'By the agent'"),
    ]);
    await settled(repository);
    expect(await repository.json<Why>(["why", "a.txt:1"])).toMatchObject({
      commit: { subject: "By the agent" },
      turn: 1,
      prompt: "Write and commit",
    });
  });

  test("what the person reads", async () => {
    using place = await enabled();
    const { repository, claude } = place;
    claude.minute = 1;
    await claude.turn("Add a \u001b[31mgreeting\u001b[0m", [write("src/hello.txt", "hello\nworld\n")], "There it is.");
    claude.minute = 2;
    await claude.turn("Add a farewell", [edit("src/hello.txt", "world\n", "world\nbye\n")], "Bye.");
    repository.write("src/hello.txt", "hello\nworld\nbye\nmine\n");
    const story = new Story(repository);
    await story.run(["why", "hello.txt:1"], { minute: 5, cwd: "src" });
    await story.run(["why", "src/hello.txt"], { minute: 5 });
    await story.run(["blame", "src/hello.txt"], { minute: 5 });
    await story.run(["blame", "src/hello.txt:3-4", "--json"], { minute: 5 });
    await story.run(["explain", claude.session.slice(0, 8)], { minute: 5 });
    await story.run(["why", "src/absent.txt:1"], { minute: 5 });
    await story.run(["why", "src/hello.txt:99"], { minute: 5 });
    await story.run(["why", "../x"], { minute: 5 });
    await story.run(["explain", "nothing-like-it"], { minute: 5 });
    await story.run(["explain", "HEAD"], { minute: 5 });
    expect(story.toString()).not.toContain("\u001b");
    expect(story.toString()).toMatchSnapshot();
  });
});

describe("explain", () => {
  test("a commit of ours: its checkpoint, prompts, files and the conversation", async () => {
    using place = await enabled();
    const { repository, claude } = place;
    await claude.turn("Add a greeting", [write("hello.txt", "hello\n")], "There it is.");
    repository.commit("Greet");
    await settled(repository);
    const [id = ""] = checkpointsOf(repository, "HEAD");
    const told = await repository.json<{
      checkpoints: { id: string; sessions: { prompts: string[]; conversation: { type: string; text: string }[] }[] }[];
    }>(["explain", "--conversation"]);
    expect(told.checkpoints.map((checkpoint) => checkpoint.id)).toEqual([id]);
    expect(told.checkpoints[0]?.sessions[0]?.prompts).toEqual(["Add a greeting"]);
    const spoken = told.checkpoints[0]?.sessions[0]?.conversation.filter(({ type }) => type !== "tool-result");
    expect(spoken?.map(({ type, text }) => `${type} ${text}`.trim())).toEqual([
      "prompt Add a greeting",
      "tool-use",
      "answer There it is.",
    ]);
    const text = (await repository.run(["explain", id])).stdout;
    expect(text).toContain("Add a greeting");
    expect(text).toContain("hello.txt");
    expect((await repository.run(["log", "--commits"])).stdout).toContain(id);
  });

  test("another tool's checkpoint, in a repository where Backtrail was never enabled", async () => {
    using repository = temporaryRepository();
    const hostile = JSON.stringify({
      session_id: "s",
      agent: "Ev\u001b]0;owned\u0007il\u202e",
      files_touched: ["a\nb"],
    });
    commitFiles(repository, BRANCH, {
      ...exampleCheckpoint(() => "sha256:no"),
      "a3/b2c4d5e6f7/2/metadata.json": hostile,
      "a3/b2c4d5e6f7/2/prompt.txt": "\u001b[2J\u001b[1;31mwipe the screen",
    });
    repository.write("greet.ts", "hello\n");
    repository.commit(`Greet people\n\nEntire-Checkpoint: ${ID}`);
    const story = new Story(repository);
    await story.run(["explain"], { minute: 5 });
    await story.run(["explain", ID, "--conversation"], { minute: 5 });
    await story.run(["why", "greet.ts:1"], { minute: 5 });
    await story.run(["log", "--commits"], { minute: 5 });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may come through
    expect(story.toString()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(story.toString()).toMatchSnapshot();
  });

  test("a commit with a missing checkpoint is reported", async () => {
    using repository = temporaryRepository();
    repository.commit(`Greet\n\nEntire-Checkpoint: ${ID}`);
    const result = await repository.run(["explain"]);
    expect(result.code).toBe(3);
    expect(result.stderr).toContain(`It names checkpoint ${ID}, which is not here`);
  });
});

test("a checkpoint's id is a place to go back to: the commit that it belongs to", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  repository.commit("Greet");
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await claude.turn("Spoil it", [write("hello.txt", "spoilt\n")]);
  repository.commit("Spoil");
  await settled(repository);
  expect((await repository.run(["rewind", id, "--yes"])).code).toBe(0);
  expect(repository.read("hello.txt")).toBe("hello\n");
  expect((await repository.run(["rewind", "0123456789ab", "--yes"])).code).toBe(3);
});

test("a colleague's clone, where nothing was ever recorded, answers from the checkpoints alone", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  await repository.run(["config", "set", "checkpoints.branch", "public"]);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\nworld\n")], "There it is.");
  repository.write("hello.txt", "hello\nworld\nmine\n");
  repository.commit("Greet");
  await settled(repository);
  using clone = temporaryRepository({ empty: true });
  clone.git("remote", "add", "origin", repository.path);
  clone.git("fetch", "--quiet", "origin");
  clone.git("checkout", "--quiet", "main");
  const told = (line: number) => clone.json<Why>(["why", `hello.txt:${line}`]);
  const [checkpoint = ""] = checkpointsOf(repository, "HEAD");
  const turn = { checkpoint, session: SESSION, turn: 1, prompt: "Add a greeting", response: "There it is." };
  expect(await told(2)).toMatchObject(turn);
  expect(await told(3)).toMatchObject({ turn: null });
  expect((await clone.run(["explain"])).stdout).toContain("Add a greeting");
});

test("a squashed fixup keeps its turns, though its message is gone", async () => {
  using place = await enabled();
  const { repository, claude } = place;
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  repository.commit("Greet");
  await claude.turn("Add a farewell", [write("hello.txt", "hello\nbye\n")]);
  repository.commit("fixup! Greet");
  await settled(repository);
  const ids = ["HEAD~", "HEAD"].flatMap((commit) => checkpointsOf(repository, commit));
  repository.git("-c", "sequence.editor=true", "rebase", "--quiet", "--interactive", "--autosquash", "HEAD~2");
  await settled(repository);
  // As if the steps had gone out of their time.
  repository.write(".git/backtrail/steps.jsonl", "");
  const told = (line: number) => repository.json<Why>(["why", `hello.txt:${line}`]);
  expect(await told(1)).toMatchObject({ commit: { subject: "Greet" }, turn: 1, prompt: "Add a greeting" });
  expect(await told(2)).toMatchObject({ commit: { subject: "Greet" }, turn: 2, prompt: "Add a farewell" });
  const commit = { id: repository.git("rev-parse", "HEAD"), subject: "Greet", checkpoints: ids };
  const explained = await repository.json<{ checkpoints: { id: string }[] }>(["explain"]);
  expect(explained.checkpoints.map(({ id }) => id)).toEqual(ids);
  // And back: from the checkpoint whose commit's message is gone to the commit that it is part of now.
  for (const id of ids) expect(await repository.json(["explain", id])).toMatchObject({ commits: [commit] });
  repository.git("commit", "--quiet", "--amend", "--message", "Greet and part");
  await settled(repository);
  const moved = { id: repository.git("rev-parse", "HEAD"), subject: "Greet and part" };
  const back = await repository.json<{ commits: unknown[] }>(["explain", ids[1] ?? ""]);
  expect(back.commits).toEqual([expect.objectContaining(moved)]);
});

describe("other kinds of places", () => {
  test("a folder without git", async () => {
    using folder = temporaryFolder();
    await folder.run(["enable", "--agent", "claude-code"]);
    const claude = new ScriptedClaude(folder, SESSION);
    await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
    folder.write("hello.txt", "hello\nmine\n");
    expect(await folder.json<Why>(["why", "hello.txt:1"])).toMatchObject({ commit: null, turn: 1 });
    expect(await folder.json<Why>(["why", "hello.txt:2"])).toMatchObject({ commit: null, turn: null });
    expect((await folder.run(["explain", SESSION.slice(0, 8)])).stdout).toContain("Add a greeting");
    expect((await folder.run(["log", "--commits"])).stderr).toContain("no commits");
    expect((await folder.run(["explain"])).code).toBe(3);
  });

  test("a repository with SHA-256 objects", async () => {
    using repository = temporaryRepository({ empty: true });
    rmSync(repository.at(".git"), { recursive: true });
    repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main");
    repository.commit("first");
    await repository.run(["enable", "--agent", "claude-code"]);
    const claude = new ScriptedClaude(repository, SESSION);
    await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
    repository.commit("Greet");
    await settled(repository);
    repository.write(".git/backtrail/steps.jsonl", "");
    const [checkpoint = ""] = checkpointsOf(repository, "HEAD");
    expect(await repository.json<Why>(["why", "hello.txt:1"])).toMatchObject({ checkpoint, turn: 1 });
  });
});
