import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "../../../test/support/index.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { inspectGitHooks, installGitHooks, removeGitHooks, repairGitHooks } from "./install.ts";
import { GIT_HOOKS } from "./names.ts";

function world() {
  const repository = temporaryRepository();
  const workspace = findWorkspace(repository.path);
  if (!workspace) throw new Error("No workspace.");
  const present = () => GIT_HOOKS.filter((hook) => existsSync(repository.at(".git/hooks", hook)));
  return { repository, workspace, present };
}

test("a repair that runs during an uninstall does not reinstall the hooks", async () => {
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

/** The whole repository, at another place. */
function moved(path: string) {
  const place = `${path}-moved`;
  renameSync(path, place);
  const workspace = findWorkspace(place);
  if (!workspace) throw new Error("No workspace.");
  return { place, workspace };
}

test("in a repository that has moved, our hooks are known and taken out", async () => {
  const { repository, workspace } = world();
  using _ = repository;
  await installGitHooks(workspace, "/opt/backtrail");
  const { place, workspace: there } = moved(repository.path);
  expect((await inspectGitHooks(there, "/opt/backtrail")).state).toBe("installed");
  expect(await removeGitHooks(there)).toEqual([]);
  expect(GIT_HOOKS.filter((hook) => existsSync(join(place, ".git/hooks", hook)))).toEqual([]);
});

test("in a repository that has moved, hooks of the user's own are called again and come back", async () => {
  for (const repaired of [true, false]) {
    const { repository, workspace } = world();
    using _ = repository;
    repository.git("config", "core.hooksPath", ".githooks");
    repository.write(".githooks/pre-commit", "#!/bin/sh\n");
    repository.commit("hooks");
    const config = readFileSync(repository.at(".git/config"), "utf8");
    await installGitHooks(workspace, "/opt/backtrail");
    const { place, workspace: there } = moved(repository.path);
    if (repaired) {
      await repairGitHooks(there);
      expect((await inspectGitHooks(there, "/opt/backtrail")).state).toBe("installed");
      const script = readFileSync(join(there.storeDir, "hooks/pre-commit"), "utf8");
      expect(script).toContain(".githooks/pre-commit");
    }
    await removeGitHooks(there);
    expect(readFileSync(join(place, ".git/config"), "utf8")).toBe(config);
  }
});

test("a script of ours has no sign of a manager that would take it for its own", async () => {
  const { repository, workspace } = world();
  using _ = repository;
  chmodSync(
    repository.write(".git/hooks/commit-msg", "#!/bin/sh\n# Entire CLI hooks\nentire hooks git commit-msg\n"),
    0o755,
  );
  await installGitHooks(workspace, "/opt/backtrail");
  const script = readFileSync(repository.at(".git/hooks/commit-msg"), "utf8");
  expect(script).toContain("commit-msg.before-backtrail");
  expect(script).not.toContain("Entire CLI hooks");
});
