/** Hooks that call themselves, hooks that commit, and hooks in other directories: each ends, and each runs as often as it should. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { ENTIRE, installManager } from "../support/chaining-manager.ts";
import { HookedRepository, onceEach, SHARED_HOOKS } from "../support/hook-log.ts";

const install = (scene: HookedRepository) => installGitHooks(scene.workspace, scene.executable);
const stateOf = async (scene: HookedRepository) => (await inspectGitHooks(scene.workspace, scene.executable)).state;

/** Of the commit's own hooks, how often these ran. */
async function runs(scene: HookedRepository, ...names: string[]): Promise<(number | undefined)[]> {
  const counts = await scene.commitAndPush();
  return names.map((name) => counts[name]);
}

const SELF: Record<string, string[]> = {
  "by its name": ["#!/bin/sh", '"$0" "$@"'],
  "by its name, in its place": ["#!/usr/bin/env sh", 'exec "$0" "$@"'],
  "by its path": ["#!/bin/sh", '.git/hooks/commit-msg "$@"'],
  "by its path, in another shell": ["#!/bin/bash", 'exec "$(git rev-parse --git-path hooks)/commit-msg" "$@"'],
};

for (const [how, [first = "", call = ""]] of Object.entries(SELF)) {
  test(`a hook that calls itself ${how} ends`, async () => {
    using scene = new HookedRepository();
    const text = [first, scene.line("commit-msg", "user"), call, ""].join("\n");
    chmodSync(scene.repository.write(".git/hooks/commit-msg", text), 0o755);
    await install(scene);
    expect(await stateOf(scene)).toBe("installed");
    expect(await runs(scene, "commit-msg user", "commit-msg backtrail")).toEqual([1, 1]);
    expect(await removeGitHooks(scene.workspace)).toEqual([]);
    expect(scene.repository.read(".git/hooks/commit-msg")).toBe(text);
  });

  test(`a hook that calls itself ${how}, once, does so`, async () => {
    using scene = new HookedRepository();
    const again = `[ -n "$AGAIN" ] && exit 0; AGAIN=yes; export AGAIN; ${call}`;
    const text = [first, scene.line("commit-msg", "user"), again, ""].join("\n");
    chmodSync(scene.repository.write(".git/hooks/commit-msg", text), 0o755);
    expect(await runs(scene, "commit-msg user")).toEqual([2]);
    await install(scene);
    expect(await runs(scene, "commit-msg user", "commit-msg backtrail")).toEqual([2, 1]);
  });
}

test("two hooks that call each other end", async () => {
  using scene = new HookedRepository();
  const call = (hook: string) => `"$(dirname "$0")/${hook}" "$@"`;
  scene.script(".git/hooks/commit-msg", [scene.line("commit-msg", "user"), call("post-commit")]);
  scene.script(".git/hooks/post-commit", [scene.line("post-commit", "user"), call("commit-msg")]);
  await install(scene);
  const counts = await scene.commitAndPush();
  expect(counts["commit-msg user"]).toBe(2);
  expect(counts["post-commit user"]).toBe(2);
});

test("a shell's options and the name that a hook is called by are kept", async () => {
  for (const shell of ["#!/bin/sh -e", "#!/bin/bash -e", "#!/usr/bin/env bash"]) {
    using scene = new HookedRepository();
    const check = shell.endsWith("-e") ? "false" : "exit 1";
    const text = [shell, `[ "\${0##*/}" = commit-msg ] || exit 0`, check, "exit 0", ""].join("\n");
    chmodSync(scene.repository.write(".git/hooks/commit-msg", text), 0o755);
    await install(scene);
    installManager(scene, ENTIRE);
    await expect(scene.commitAndPush()).rejects.toThrow("git commit ended with 1");
    await repairGitHooks(scene.workspace);
    await expect(scene.commitAndPush()).rejects.toThrow("git commit ended with 1");
  }
});

test("a commit made by a hook runs all hooks", async () => {
  using scene = new HookedRepository();
  scene.userHooks();
  const amend = `[ -n "$AMENDING" ] || AMENDING=yes git commit --quiet --amend --allow-empty --no-edit`;
  scene.script(".git/hooks/post-commit", [scene.line("post-commit", "user"), amend]);
  await install(scene);
  installManager(scene, ENTIRE);
  await repairGitHooks(scene.workspace);
  const twice = Object.entries(onceEach(["user", "manager", "backtrail"])).map(([name, count]) => [
    name,
    name.startsWith("pre-push") ? count : 2,
  ]);
  expect(await scene.commitAndPush()).toEqual(Object.fromEntries(twice));
});

test("a hook that commits for ever is ended", async () => {
  using scene = new HookedRepository();
  scene.script(".git/hooks/post-commit", [
    scene.line("post-commit", "user"),
    "git commit --quiet --allow-empty --message again",
  ]);
  await install(scene);
  const [user] = await runs(scene, "post-commit user");
  expect(user).toBeLessThan(10);
});

test("a variable that is left from a hook of long ago changes nothing", async () => {
  using scene = new HookedRepository();
  scene.userHooks();
  await install(scene);
  const names = SHARED_HOOKS.map((hook) => `BACKTRAIL_IN_${hook.toUpperCase().replaceAll("-", "_")}`);
  for (const left of ["4194300 i i 0 abc", "nonsense"]) {
    const env = Object.fromEntries(names.map((name) => [name, left]));
    expect(await scene.commitAndPush(undefined, env)).toEqual(onceEach(["user", "backtrail"]));
  }
});

test("without /proc, ps is asked", async () => {
  using scene = new HookedRepository();
  scene.userHooks();
  const amend = `[ -n "$AMENDING" ] || AMENDING=yes git commit --quiet --amend --allow-empty --no-edit`;
  scene.script(".git/hooks/post-commit", [scene.line("post-commit", "user"), amend, '"$0" "$@"']);
  await install(scene);
  for (const hook of SHARED_HOOKS) {
    const path = `.git/hooks/${hook}`;
    const text = scene.repository.read(path);
    expect(text).toContain("/proc/");
    scene.repository.write(path, text.replaceAll("/proc/", "/nowhere/"));
  }
  expect(await runs(scene, "post-commit user", "post-commit backtrail", "commit-msg user")).toEqual([2, 2, 2]);
});

test("tracked hooks that a manager does not know of: it installs into the directory of ours that git asks", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.userHooks("hooks", [...SHARED_HOOKS, "pre-commit"]);
  repository.commit("hooks");
  repository.git("config", "core.hooksPath", "hooks");
  const config = repository.read(".git/config");
  await install(scene);
  const own = ".git/backtrail/hooks";
  for (let prompt = 0; prompt < 3; prompt++) {
    installManager(scene, ENTIRE, own);
    await repairGitHooks(scene.workspace);
  }
  expect(await stateOf(scene)).toBe("installed");
  expect(await scene.commitAndPush()).toEqual({
    ...onceEach(["user", "manager", "backtrail"]),
    "pre-commit user": 1,
  });
  const settled = scene.picture(own);
  installManager(scene, ENTIRE, own);
  await repairGitHooks(scene.workspace);
  expect(scene.picture(own)).toEqual(settled);
  expect(await removeGitHooks(scene.workspace)).toHaveLength(SHARED_HOOKS.length);
  expect(repository.read(".git/config")).toBe(config);
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(await scene.commitAndPush()).toEqual({ ...onceEach(["user"]), "pre-commit user": 1 });
});

test("a directory for all repositories that passes on to .git/hooks, where ours were first", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.userHooks();
  await install(scene);
  const shared = join(repository.home, "hooks");
  mkdirSync(shared);
  for (const hook of SHARED_HOOKS) {
    const pass = `exec "$(git rev-parse --git-common-dir)/hooks/$(basename "$0")" "$@"`;
    scene.script(`../home/hooks/${hook}`, [scene.line(hook, "shared"), pass]);
  }
  repository.git("config", "core.hooksPath", shared);
  await repairGitHooks(scene.workspace);
  expect(await stateOf(scene)).toBe("installed");
  expect(await scene.commitAndPush()).toEqual(onceEach(["user", "shared", "backtrail"]));
});

test("a directory that git ignores and that calls ours in .git/hooks by its path", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.userHooks();
  await install(scene);
  repository.write(".gitignore", "mine/\n");
  for (const hook of SHARED_HOOKS) scene.script(`mine/${hook}`, [scene.line(hook, "mine"), `.git/hooks/${hook} "$@"`]);
  repository.git("config", "core.hooksPath", "mine");
  const before = scene.picture("mine");
  await repairGitHooks(scene.workspace);
  expect(await stateOf(scene)).toBe("installed");
  expect(await scene.commitAndPush()).toEqual(onceEach(["user", "mine", "backtrail"]));
  // None of these is a hook to be kept: it leads to ours by itself.
  expect(scene.picture("mine")).toMatchObject(before);
});

test("a link in place of .git/hooks is not written through", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.userHooks("hooks");
  repository.commit("hooks");
  rmSync(repository.at(".git/hooks"), { recursive: true });
  symlinkSync("../hooks", repository.at(".git/hooks"));
  await install(scene);
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(await scene.commitAndPush()).toEqual(onceEach(["user", "backtrail"]));
  expect(await removeGitHooks(scene.workspace)).toEqual([]);
  expect(await scene.commitAndPush()).toEqual(onceEach(["user"]));
});

test("a setting of one work tree alone is not overwritten", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.userHooks("hooks");
  repository.commit("hooks");
  repository.git("config", "extensions.worktreeConfig", "true");
  repository.git("config", "--worktree", "core.hooksPath", "hooks");
  const config = repository.read(".git/config");
  for (let time = 0; time < 2; time++) {
    const { installed, notes } = await install(scene);
    expect([installed, notes.length]).toEqual([false, 1]);
  }
  expect(repository.read(".git/config")).toBe(config);
  expect(await scene.commitAndPush()).toEqual(onceEach(["user"]));
});
