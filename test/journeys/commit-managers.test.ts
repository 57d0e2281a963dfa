/** Backtrail beside a tool that puts its own git hooks back at each prompt. */
import { expect, test } from "bun:test";
import { ENTIRE, installManager, removeManager } from "../support/chaining-manager.ts";
import { installOld, promptsOld } from "../support/earlier-version.ts";
import { HookedRepository } from "../support/hook-log.ts";
import { ScriptedClaude, write } from "../support/index.ts";
import { checkpointsOf, settled } from "./commits.ts";

interface Report {
  findings: { check: string; level: string; message: string }[];
}

async function gitHookFindings({ repository }: HookedRepository, ...args: string[]): Promise<string[]> {
  const { stdout } = await repository.run(["doctor", "--json", ...args]);
  const { findings } = JSON.parse(stdout) as Report;
  return findings.flatMap(({ check, level, message }) => (check === "git hooks" ? [`${level}: ${message}`] : []));
}

async function enable({ repository }: HookedRepository): Promise<void> {
  expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
}

test("commits are linked together with the other tool's hooks, and an amended one keeps its link", async () => {
  using scene = new HookedRepository({ isReal: true });
  const { repository } = scene;
  scene.userHooks();
  await enable(scene);
  installManager(scene, ENTIRE);
  const claude = new ScriptedClaude(repository);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  repository.git("add", "--all");
  await scene.git(["commit", "--quiet", "--message", "Greet"]);
  const linked = checkpointsOf(repository, "HEAD");
  expect(linked).toHaveLength(1);
  await scene.git(["commit", "--quiet", "--amend", "--message", "Greet everybody"]);
  expect(checkpointsOf(repository, "HEAD")).toEqual(linked);
  expect(await gitHookFindings(scene)).toEqual(["ok: in .git/hooks, beside Entire"]);
  expect((await repository.run(["disable"])).code).toBe(0);
  removeManager(scene, ENTIRE);
  const found = scene.picture();
  scene.userHooks();
  expect(found).toEqual(scene.picture());
});

for (const [command, args] of [
  ["doctor --fix", ["doctor", "--fix"]],
  ["enable", ["enable", "--agent", "claude-code"]],
] as const) {
  test(`hooks that an earlier version made circular are found by doctor and mended by ${command}`, async () => {
    using scene = new HookedRepository({ isReal: true });
    const { repository } = scene;
    scene.userHooks();
    await enable(scene);
    installOld(scene);
    promptsOld(scene, ENTIRE);
    expect(await gitHookFindings(scene)).toEqual([
      "problem: Hooks of Entire and of Backtrail in .git/hooks call each other or run twice: prepare-commit-msg, commit-msg, post-commit, pre-push.",
    ]);
    expect((await repository.run([...args])).code).toBe(0);
    expect(await gitHookFindings(scene)).toEqual(["ok: in .git/hooks, beside Entire"]);
    repository.write("a.txt", "a\n");
    repository.git("add", "--all");
    await scene.git(["commit", "--quiet", "--message", "a"]);
    expect((await repository.run(["disable"])).code).toBe(0);
  });
}
