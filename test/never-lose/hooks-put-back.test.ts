/** The user's own hooks come back byte for byte, whoever leaves first, and also out of the knots of earlier versions. */
import { expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { applyMoves } from "../../src/checkpoints/git-hooks/apply.ts";
import { planDirectory } from "../../src/checkpoints/git-hooks/directory.ts";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { ENTIRE, installManager, removeManager } from "../support/chaining-manager.ts";
import { installOld, promptsOld } from "../support/earlier-version.ts";
import { HookedRepository, onceEach, SHARED_HOOKS } from "../support/hook-log.ts";

type Tool = "manager" | "backtrail";

async function arrive(scene: HookedRepository, party: Tool | "user"): Promise<void> {
  if (party === "user") scene.userHooks();
  else if (party === "manager") installManager(scene, ENTIRE);
  else await installGitHooks(scene.workspace, scene.executable);
  await repairGitHooks(scene.workspace);
}

async function leave(scene: HookedRepository, tool: Tool): Promise<void> {
  if (tool === "manager") removeManager(scene, ENTIRE);
  else expect(await removeGitHooks(scene.workspace)).toEqual([]);
}

const ORDERS = [
  ["user", "manager", "backtrail"],
  ["user", "backtrail", "manager"],
  ["manager", "backtrail", "user"],
  ["backtrail", "manager", "user"],
] as const;

for (const [first, last] of [
  ["manager", "backtrail"],
  ["backtrail", "manager"],
] as const) {
  for (const order of ORDERS) {
    test(`${order.join(", ")}; then ${first} and ${last} leave`, async () => {
      using scene = new HookedRepository();
      for (const party of order) await arrive(scene, party);
      installManager(scene, ENTIRE);
      await repairGitHooks(scene.workspace);
      await leave(scene, first);
      expect(await scene.commitAndPush()).toEqual(onceEach(["user", last]));
      await leave(scene, last);
      const found = scene.picture();
      scene.userHooks();
      expect(found).toEqual(scene.picture());
    });
  }
}

for (const hasUser of [true, false]) {
  const who = hasUser ? ["user", "manager", "backtrail"] : ["manager", "backtrail"];
  const circular = () => {
    const scene = new HookedRepository();
    // With the user's hook the earlier version was first, without it the manager was.
    if (hasUser) {
      scene.userHooks(".git/hooks", SHARED_HOOKS, 0o755);
      installOld(scene);
    } else installManager(scene, ENTIRE);
    installManager(scene, ENTIRE);
    installOld(scene);
    promptsOld(scene, ENTIRE);
    return scene;
  };
  const knot = `a knot of an earlier version ${hasUser ? "with" : "without"} a hook of the user's`;

  test(`${knot} hangs`, async () => {
    using scene = circular();
    // The hooks themselves give up here; without that it would never end.
    await expect(scene.commitAndPush()).rejects.toThrow("ended with");
  });

  test(`${knot} is found and mended, and stays so`, async () => {
    using scene = circular();
    const found = await inspectGitHooks(scene.workspace, scene.executable);
    expect([found.state, found.which]).toEqual(["circular", [...SHARED_HOOKS]]);
    await installGitHooks(scene.workspace, scene.executable);
    expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("installed");
    expect(await scene.commitAndPush()).toEqual(onceEach(who));
    const settled = scene.picture();
    installManager(scene, ENTIRE);
    await repairGitHooks(scene.workspace);
    expect(scene.picture()).toEqual(settled);
  });

  test(`${knot} is mended between the other tool's prompt and the worker`, async () => {
    using scene = circular();
    installManager(scene, ENTIRE);
    await repairGitHooks(scene.workspace);
    expect(await scene.commitAndPush()).toEqual(onceEach(who));
  });

  for (const order of [
    ["manager", "backtrail"],
    ["backtrail", "manager"],
  ] as const) {
    test(`${knot} leaves nothing behind when ${order.join(" and ")} leave`, async () => {
      using scene = circular();
      for (const tool of order) await leave(scene, tool);
      // The manager takes a script for its own only where it finds it by the hook's name.
      removeManager(scene, ENTIRE);
      const found = scene.picture();
      if (hasUser) scene.userHooks(".git/hooks", SHARED_HOOKS, 0o755);
      expect(found).toEqual(hasUser ? scene.picture() : {});
      expect(await scene.commitAndPush()).toEqual(onceEach(hasUser ? ["user"] : []));
    });
  }
}

test("scripts of an earlier version without a knot are replaced", async () => {
  using scene = new HookedRepository();
  scene.userHooks();
  installOld(scene);
  expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("old");
  await repairGitHooks(scene.workspace);
  expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("installed");
  expect(await scene.commitAndPush()).toEqual(onceEach(["user", "backtrail"]));
});

test("links and modes come back, and a hook that may not run does not", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.script("tools/check", [scene.line("commit-msg", "user")]);
  symlinkSync("../../tools/check", repository.at(".git/hooks/commit-msg"));
  scene.script(".git/hooks/post-commit", [scene.line("post-commit", "user")], 0o511);
  scene.script(".git/hooks/pre-push", ["exit 1"], 0o644);
  const before = scene.picture();
  await installGitHooks(scene.workspace, scene.executable);
  installManager(scene, ENTIRE);
  await repairGitHooks(scene.workspace);
  expect(await scene.commitAndPush()).toEqual({
    ...onceEach(["manager", "backtrail"]),
    ...onceEach(["user"], ["commit-msg", "post-commit"]),
  });
  await leave(scene, "backtrail");
  await leave(scene, "manager");
  expect(scene.picture()).toEqual(before);
});

test("the user's edits of our hook script are kept in the store", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  await installGitHooks(scene.workspace, scene.executable);
  const edited = `${repository.read(".git/hooks/commit-msg")}# a note of mine\n`;
  repository.write(".git/hooks/commit-msg", edited);
  chmodSync(repository.at(".git/hooks/commit-msg"), 0o755);
  await repairGitHooks(scene.workspace);
  expect(repository.read(".git/hooks/commit-msg")).not.toContain("a note of mine");
  const kept = repository.at(".git/backtrail/replaced-hooks");
  expect(readdirSync(kept).map((name) => readFileSync(`${kept}/${name}`, "utf8"))).toEqual([edited]);
});

/** Arrangements that take several moves to put in order. */
const UNSETTLED: Record<string, (scene: HookedRepository) => Promise<void> | void> = {
  "a manager that keeps the user's hook": (scene) => {
    scene.userHooks();
    installManager(scene, ENTIRE);
  },
  "the same, with an earlier version over it": (scene) => {
    scene.userHooks();
    installManager(scene, ENTIRE);
    installOld(scene);
  },
  "a knot of an earlier version": (scene) => {
    scene.userHooks();
    installOld(scene);
    promptsOld(scene, ENTIRE);
  },
};

for (const [name, arrange] of Object.entries(UNSETTLED)) {
  test(`${name}: killed between any two moves, the next attempt comes to the same end`, async () => {
    for (let made = 0; made < 4; made++) {
      using scene = new HookedRepository();
      await arrange(scene);
      const directory = { path: scene.repository.at(".git/hooks"), original: null };
      for (const { plan } of planDirectory(scene.workspace, scene.executable, directory))
        applyMoves(directory.path, scene.workspace.storeDir, plan.moves.slice(0, made));
      await installGitHooks(scene.workspace, scene.executable);
      expect(await scene.commitAndPush()).toEqual(onceEach(["user", "manager", "backtrail"]));
    }
  });
}
