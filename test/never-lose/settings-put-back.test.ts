/** `git clean -fdx` deletes the settings that `enable` wrote: that is noticed, said, and put right. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { executable, runProgram, ScriptedClaude, temporaryRepository, write } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

test("the next command writes the file again and says so", async () => {
  using repository = temporaryRepository();
  repository.write("a.txt", "a\n");
  repository.commit("first");
  await repository.run(["enable", "--agent", "claude-code"]);
  const settings = repository.at(".claude/settings.local.json");
  const before = readFileSync(settings, "utf8");
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write", [write("b.txt", "b\n")]);
  repository.git("clean", "-fdxq");
  expect(existsSync(settings)).toBe(false);

  const status = await repository.run(["status"], { env });
  expect(status.stdout).toContain("The hooks of claude-code are gone from .claude/settings.local.json");
  expect(existsSync(settings)).toBe(false);
  const log = await repository.run(["log"], { env });
  expect(log.stderr).toContain(".claude/settings.local.json was deleted");
  expect(readFileSync(settings, "utf8")).toBe(before);
  expect((await repository.run(["log"], { env })).stderr).not.toContain("was deleted");
  expect((await repository.run(["disable"], { env })).code).toBe(0);
  expect(existsSync(repository.at(".claude"))).toBe(false);
});

test("the worker writes it again", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  repository.git("clean", "-fdxq");
  await runProgram(executable(), ["worker", repository.path], {
    cwd: repository.path,
    env: repository.environment({}),
  });
  expect(existsSync(repository.at(".claude/settings.local.json"))).toBe(true);
});

test("hooks that the user took out stay out, and so do those of a work tree that never had any", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const settings = repository.at(".claude/settings.local.json");
  writeFileSync(settings, "{}\n");
  await repository.run(["log"], { env });
  expect(readFileSync(settings, "utf8")).toBe("{}\n");

  repository.git("commit", "--quiet", "--allow-empty", "-m", "x");
  const other = repository.at("../other");
  repository.git("worktree", "add", "--quiet", other);
  try {
    await repository.run(["log"], { env, cwd: other });
    expect(existsSync(`${other}/.claude`)).toBe(false);
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});
