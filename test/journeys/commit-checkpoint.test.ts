/** What a checkpoint holds, and that nothing on the way to it can be lost. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ScriptedClaude, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, inCheckpoint, settled } from "./commits.ts";

const SECRET = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");

test("every field is the format's own, and the lines are known by turn", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  claude.minute = -1;
  await claude.turn("Add a greeting", [write("hello.txt", "hello\nthere\n")], "There it is.");
  repository.write("mine.txt", "mine\n");
  repository.commit("Greet");
  await settled(repository);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  const metadata = JSON.parse(inCheckpoint(repository, id, "0/metadata.json"));
  expect(Object.keys(metadata).sort()).toEqual([
    "agent",
    "branch",
    "checkpoint_id",
    "checkpoint_transcript_start",
    "checkpoints_count",
    "cli_version",
    "created_at",
    "files_touched",
    "initial_attribution",
    "model",
    "save_step_count",
    "session_id",
    "strategy",
    "token_usage",
    "transcript_lines_at_start",
    "transcript_path",
    "turn_id",
  ]);
  expect(metadata.transcript_path).toMatch(/^\.claude\/projects\/.*\.jsonl$/);
  expect(metadata.token_usage.output_tokens).toBeGreaterThan(0);
  expect(metadata.initial_attribution).toMatchObject({ agent_lines: 2, human_added: 1, total_committed: 3 });
  const summary = JSON.parse(inCheckpoint(repository, id, "metadata.json"));
  expect(Object.keys(summary)).toEqual([
    "cli_version",
    "checkpoint_id",
    "strategy",
    "branch",
    "checkpoints_count",
    "files_touched",
    "sessions",
    "token_usage",
    "token_usage_version",
  ]);
  const transcript = inCheckpoint(repository, id, "0/full.jsonl");
  const hash = new Bun.CryptoHasher("sha256").update(transcript).digest("hex");
  expect(inCheckpoint(repository, id, "0/content_hash.txt")).toBe(`sha256:${hash}`);
  const record = JSON.parse(inCheckpoint(repository, id, "0/backtrail.json"));
  expect(record.attribution).toMatchObject([{ path: "hello.txt", ranges: [{ start: 1, turn: 1 }] }]);
  expect(record.steps.map((step: { kind: string }) => step.kind)).toEqual(["turn-start", "turn-end"]);
  const trailers = repository.checkpoints("log", "-1", "--format=%(trailers:only)", "entire/checkpoints/v1");
  expect(trailers.trim().split("\n")).toEqual([
    `Entire-Session: ${claude.session}`,
    "Entire-Strategy: manual-commit",
    "Entire-Agent: Claude Code",
  ]);
});

test("no secret gets into a checkpoint, by no way", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn(`Use the token ${SECRET}`, [write("hello.txt", "hello\n")], `Used ${SECRET}.`);
  repository.commit("Greet");
  await settled(repository);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  const names = repository.checkpoints("ls-tree", "-r", "--name-only", "entire/checkpoints/v1").split("\n");
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    expect(repository.checkpoints("cat-file", "-p", `entire/checkpoints/v1:${name}`)).not.toContain(SECRET);
  }
  expect(inCheckpoint(repository, id, "0/prompt.txt")).toMatch(/^Use the token \[secret:[a-z-]+:1\]$/);
  for (const line of inCheckpoint(repository, id, "0/full.jsonl").trim().split("\n")) JSON.parse(line);
});

test("a long conversation is stored in chunks of which a longer one shares all but the last", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  const words = Array.from({ length: 400 }, (_, i) => `Sentence number ${i} of a long answer.`).join(" ");
  await claude.turn("Talk", [write("a.txt", "a\n")]);
  for (let i = 0; i < 200; i++) claude.transcript.assistant([{ type: "text", text: `${i} ${words}` }]);
  await claude.turn("Go on", [write("b.txt", "b\n")]);
  repository.commit("one");
  await settled(repository);
  await claude.turn("And on", [write("c.txt", "c\n")]);
  repository.commit("two");
  await settled(repository);
  const blobs = ["HEAD~", "HEAD"].map((commit) => {
    const [id = ""] = checkpointsOf(repository, commit);
    const listed = repository
      .checkpoints("ls-tree", `entire/checkpoints/v1:${id.slice(0, 2)}/${id.slice(2)}/0`)
      .split("\n");
    return listed.filter((line) => line.includes("full.jsonl")).sort((x, y) => (x.slice(53) < y.slice(53) ? -1 : 1));
  });
  const [before = [], after = []] = blobs;
  expect(before.length).toBeGreaterThan(2);
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  expect(after.at(-1)).not.toBe(before.at(-1));
  const [id = ""] = checkpointsOf(repository, "HEAD");
  // As another reader of the format puts them together.
  const whole = after.map((line) => inCheckpoint(repository, id, `0/${line.split("\t")[1]}`)).join("\n");
  expect(whole).toBe(readFileSync(claude.transcript.path, "utf8"));
  const hash = new Bun.CryptoHasher("sha256").update(whole).digest("hex");
  expect(inCheckpoint(repository, id, "0/content_hash.txt")).toBe(`sha256:${hash}`);
  expect((await repository.run(["explain", id])).stdout).not.toContain("is not what its");
});

test("a worker that is killed leaves its work to the next one", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  repository.git("add", "--all");
  const env = repository.environment({ BACKTRAIL_WORKER: "off" });
  Bun.spawnSync(["git", "commit", "--quiet", "--message", "Greet"], { cwd: repository.path, env });
  const killed = await repository.run(["worker", repository.path], { env: { BACKTRAIL_FAULT: "checkpoint:objects" } });
  expect(killed.signal).toBe("SIGKILL");
  expect(() => repository.checkpoints("rev-parse", "--verify", "entire/checkpoints/v1")).toThrow();
  await settled(repository);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  expect(inCheckpoint(repository, id, "0/prompt.txt")).toBe("Add a greeting");
});

test("a hook that a busy machine holds up and a worker that meets it write one checkpoint", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  repository.git("add", "--all");
  const env = repository.environment({ BACKTRAIL_FAULT: "stop:commit:queued", BACKTRAIL_WORKER: "off" });
  const commit = spawn("git", ["commit", "--quiet", "--message", "Greet"], { cwd: repository.path, env });
  const ended = new Promise((resolve) => commit.on("close", resolve));
  const queue = repository.at(".git/backtrail/queue");
  while (!existsSync(queue) || readdirSync(queue).length === 0) await Bun.sleep(10);
  const hook = Number(/^\d+/.exec(repository.read(".git/backtrail/worktrees/main/commit-intent.json.lock"))?.[0]);
  // Longer than anybody waits for a lock.
  await repository.run(["worker", repository.path]);
  await repository.run(["log"]);
  process.kill(hook, "SIGCONT");
  await ended;
  await settled(repository);
  const subjects = repository.checkpoints("log", "--format=%s", "entire/checkpoints/v1").split("\n");
  expect(subjects).toEqual(checkpointsOf(repository, "HEAD").map((id) => `Checkpoint: ${id}`));
});

test("a subagent's conversation is kept with the tool use that asked for it, redacted like everything", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.begin("Let somebody else do it");
  const transcript = join(dirname(claude.transcript.path), claude.session, "subagents", "agent-a1b2.jsonl");
  const own = { session_id: claude.session, transcript_path: claude.transcript.path, cwd: repository.path };
  const subagent = { ...own, agent_id: "a1b2", agent_type: "general-purpose" };
  await repository.hook("claude-code", "subagent-start", { ...subagent, hook_event_name: "SubagentStart" });
  repository.write("hello.txt", "hello\n");
  mkdirSync(dirname(transcript), { recursive: true });
  writeFileSync(transcript.replace(".jsonl", ".meta.json"), '{"agentType":"general-purpose","toolUseId":"toolu_1"}');
  const message = { role: "assistant", content: [{ type: "text", text: `Done with ${SECRET}.` }] };
  writeFileSync(transcript, `${JSON.stringify({ type: "assistant", uuid: "u1", message })}\n`);
  const stopped = { ...subagent, hook_event_name: "SubagentStop", agent_transcript_path: transcript };
  await repository.hook("claude-code", "subagent-stop", stopped);
  await claude.finish();
  repository.commit("Greet");
  await settled(repository);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  expect(JSON.parse(inCheckpoint(repository, id, "tasks/toolu_1/checkpoint.json"))).toMatchObject({
    session_id: claude.session,
    tool_use_id: "toolu_1",
    agent_id: "a1b2",
  });
  expect(JSON.parse(inCheckpoint(repository, id, "tasks/toolu_1/task.json"))).toEqual({
    tool_use_id: "toolu_1",
    agent_id: "a1b2",
    subagent_type: "general-purpose",
    files: ["hello.txt"],
    token_usage: expect.any(Object),
    started_at: expect.any(String),
    completed_at: expect.any(String),
  });
  const said = inCheckpoint(repository, id, "tasks/toolu_1/agent-a1b2.jsonl");
  expect(JSON.parse(said).message.content[0].text).toMatch(/^Done with \[secret:/);
});
