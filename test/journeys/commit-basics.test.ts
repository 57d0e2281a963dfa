/** A commit after a turn: linked by its trailer, and the conversation behind it on the checkpoints' branch. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { ScriptedClaude, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, settled, show } from "./commits.ts";

test("a commit after a turn has a trailer, and its checkpoint the prompt, the files and the conversation", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")], "There it is.");
  repository.commit("Greet");

  const [id = ""] = checkpointsOf(repository, "HEAD");
  expect(id).toMatch(/^[0-9a-f]{12}$/);
  await settled(repository);
  const path = `${id.slice(0, 2)}/${id.slice(2)}`;
  const summary = JSON.parse(show(repository, `${path}/metadata.json`));
  expect(summary).toMatchObject({ checkpoint_id: id, strategy: "manual-commit", branch: "main", checkpoints_count: 1 });
  expect(summary.files_touched).toEqual(["hello.txt"]);
  expect(summary.sessions[0].metadata).toBe(`/${path}/0/metadata.json`);
  const metadata = JSON.parse(show(repository, `${path}/0/metadata.json`));
  expect(metadata).toMatchObject({ session_id: claude.session, agent: "Claude Code", checkpoint_transcript_start: 0 });
  expect(show(repository, `${path}/0/prompt.txt`)).toBe("Add a greeting");
  expect(show(repository, `${path}/0/full.jsonl`)).toBe(readFileSync(claude.transcript.path, "utf8"));
  expect(repository.checkpoints("log", "-1", "--format=%s", "entire/checkpoints/v1")).toBe(`Checkpoint: ${id}`);
  expect(repository.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test("a commit that took everything leaves nothing to do for the next one", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  repository.commit("Greet");
  repository.write("mine.txt", "by hand\n");
  repository.commit("By hand");
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("disable leaves the hooks' directory as it was", async () => {
  using repository = temporaryRepository();
  repository.write(".git/hooks/commit-msg", "#!/bin/sh\nexit 0\n");
  const before = repository.git("hash-object", ".git/hooks/commit-msg");
  await repository.run(["enable", "--agent", "claude-code"]);
  expect(existsSync(repository.at(".git/hooks/post-commit"))).toBe(true);
  await repository.run(["disable"]);
  expect(repository.git("hash-object", ".git/hooks/commit-msg")).toBe(before);
  expect(existsSync(repository.at(".git/hooks/post-commit"))).toBe(false);
  expect(existsSync(repository.at(".git/hooks/commit-msg.before-backtrail"))).toBe(false);
});

test("status tells which files wait for a commit, and none once it is made", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn("Two files", [write("a.txt", "a\n"), write("b.txt", "b\n")]);
  const pending = async () => JSON.parse((await repository.run(["status", "--json"])).stdout).pending;
  const waiting = { agent: "claude-code", session: claude.session };
  expect(await pending()).toEqual([{ ...waiting, files: ["a.txt", "b.txt"] }]);
  repository.git("add", "a.txt");
  repository.git("commit", "--quiet", "--message", "a");
  expect(await pending()).toEqual([{ ...waiting, files: ["b.txt"] }]);
  repository.commit("b");
  expect(await pending()).toEqual([]);
});
