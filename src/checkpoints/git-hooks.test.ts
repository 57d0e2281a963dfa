import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { temporaryRepository } from "../../test/support/index.ts";
import { findWorkspace } from "../git/workspace.ts";
import { installGitHooks, removeGitHooks, repairGitHooks } from "./git-hooks.ts";
import { GIT_HOOKS } from "./hook-scripts.ts";

function world() {
  const repository = temporaryRepository();
  const workspace = findWorkspace(repository.path);
  if (!workspace) throw new Error("No workspace.");
  const present = () => GIT_HOOKS.filter((hook) => existsSync(repository.at(".git/hooks", hook)));
  return { repository, workspace, present };
}

test("a repair that runs while the hooks are taken out does not bring them back", async () => {
  const { repository, workspace, present } = world();
  using _ = repository;
  for (let round = 0; round < 5; round++) {
    await installGitHooks(workspace, "/opt/backtrail");
    expect(present()).toHaveLength(GIT_HOOKS.length);
    await Promise.all([repairGitHooks(workspace), removeGitHooks(workspace), repairGitHooks(workspace)]);
    expect(present()).toEqual([]);
  }
});

test("an executable's path may hold anything a file name may", async () => {
  const { repository, workspace } = world();
  using _ = repository;
  await installGitHooks(workspace, "/opt/it's $(touch pwned)/backtrail");
  repository.write(".git/backtrail/worktrees/main/active/x", "");
  repository.commit("nothing happens");
  expect(existsSync(repository.at("pwned"))).toBe(false);
  const script = readFileSync(repository.at(".git/hooks/post-commit"), "utf8");
  expect(script).toContain("'/opt/it'\\''s $(touch pwned)/backtrail'");
});

test("hooks that are turned off stay off", async () => {
  const { repository, workspace, present } = world();
  using _ = repository;
  repository.git("config", "core.hooksPath", "/dev/null");
  const { installed, notes } = await installGitHooks(workspace, "/opt/backtrail");
  expect([installed, notes.length]).toEqual([false, 1]);
  expect(present()).toEqual([]);
});
