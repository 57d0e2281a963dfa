/** What a person reads about the state that is saved when a session ends. */
import { expect, test } from "bun:test";
import { bash, ScriptedClaude, temporaryRepository, write } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

test("a step at a session's end is not shown as its beginning", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Add a", [write("a.txt", "a\n"), bash("echo b > b.txt")]);
  repository.write("mine.txt", "mine\n");
  await claude.end();

  const { stdout } = await repository.run(["log"], { env });
  expect(stdout).toMatch(/[0-9a-f]{8} {2}\+1\n│ the session ended\n│ mine\.txt\n/);
  expect(stdout).not.toContain("the session began");
});

test("a step at a session's start is shown as its beginning", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["config", "set", "tier", "minimal"]);
  await new ScriptedClaude(repository).start();

  expect((await repository.run(["log"], { env })).stdout).toContain("the session began");
});
