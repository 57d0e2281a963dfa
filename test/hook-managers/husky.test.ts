/** Backtrail beside the real husky: 9 generates a directory that git ignores, 8 has the user's hooks in a tracked one. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { ENTIRE, installManager } from "../support/chaining-manager.ts";
import { HookedRepository, onceEach, SHARED_HOOKS } from "../support/hook-log.ts";
import { available, HUSKY_8, HUSKY_9 } from "./install.ts";

const [nine, eight] = [await available(HUSKY_9), await available(HUSKY_8)];
const node = Bun.which("node");

function husky(scene: HookedRepository, program: string | null, ...args: string[]): void {
  const { repository } = scene;
  const options = { cwd: repository.path, env: repository.environment(), encoding: "utf8" } as const;
  const { status, stderr } = spawnSync(node ?? "", [program ?? "", ...args], options);
  expect([status, stderr]).toEqual([0, ""]);
}

const install = (scene: HookedRepository) => installGitHooks(scene.workspace, scene.executable);
const stateOf = async (scene: HookedRepository) => (await inspectGitHooks(scene.workspace, scene.executable)).state;

/** husky's own way: each hook of the project is a file in `.husky`. */
function projectHooks(scene: HookedRepository, head: readonly string[]): void {
  for (const hook of SHARED_HOOKS) scene.script(`.husky/${hook}`, [...head, scene.line(hook, "project")]);
  scene.repository.commit("husky");
}

describe.skipIf(nine === null || node === null)("husky 9", () => {
  for (const order of [
    ["manager", "backtrail"],
    ["backtrail", "manager"],
  ] as const) {
    test(`${order.join(", ")}`, async () => {
      using scene = new HookedRepository();
      projectHooks(scene, []);
      for (const party of order) {
        if (party === "manager") husky(scene, nine);
        else await install(scene);
      }
      await repairGitHooks(scene.workspace);
      for (let time = 0; time < 2; time++) {
        expect(await stateOf(scene)).toBe("installed");
        expect(await scene.commitAndPush()).toEqual(onceEach(["project", "backtrail"]));
        // As each `npm install` does.
        husky(scene, nine);
        expect(await scene.commitAndPush()).toEqual(onceEach(["project"]));
        await repairGitHooks(scene.workspace);
      }
      expect(scene.repository.git("status", "--porcelain")).toBe("");
      expect(await removeGitHooks(scene.workspace)).toEqual([]);
      expect(await scene.commitAndPush()).toEqual(onceEach(["project"]));
      const found = scene.picture(".husky/_");
      husky(scene, nine);
      expect(found).toEqual(scene.picture(".husky/_"));
    });
  }

  test("and a tool that puts its hooks back at each prompt", async () => {
    using scene = new HookedRepository();
    projectHooks(scene, []);
    husky(scene, nine);
    await install(scene);
    for (let prompt = 0; prompt < 3; prompt++) {
      installManager(scene, ENTIRE, ".husky/_");
      // husky finds its hooks by the name that it is called by.
      expect(await scene.commitAndPush()).toEqual(onceEach(["project", "manager", "backtrail"]));
      await repairGitHooks(scene.workspace);
      expect(await scene.commitAndPush()).toEqual(onceEach(["project", "manager", "backtrail"]));
    }
    expect(await stateOf(scene)).toBe("installed");
  });
});

describe.skipIf(eight === null || node === null)("husky 8", () => {
  const head = ['. "$(dirname -- "$0")/_/husky.sh"', ""];

  test("tracked hooks, which call themselves, run once behind ours", async () => {
    using scene = new HookedRepository();
    husky(scene, eight, "install");
    projectHooks(scene, head);
    const config = scene.repository.read(".git/config");
    await install(scene);
    expect(await stateOf(scene)).toBe("installed");
    expect(await scene.commitAndPush()).toEqual(onceEach(["project", "backtrail"]));
    husky(scene, eight, "install");
    await repairGitHooks(scene.workspace);
    expect(await scene.commitAndPush()).toEqual(onceEach(["project", "backtrail"]));
    expect(await removeGitHooks(scene.workspace)).toEqual([]);
    expect(scene.repository.read(".git/config")).toBe(config);
  });

  test("hooks that git ignores call themselves through our script", async () => {
    using scene = new HookedRepository();
    scene.repository.write(".gitignore", ".husky\n");
    husky(scene, eight, "install");
    projectHooks(scene, head);
    const before = scene.picture(".husky");
    expect(await scene.commitAndPush()).toEqual(onceEach(["project"]));
    await install(scene);
    expect(await stateOf(scene)).toBe("installed");
    expect(await scene.commitAndPush()).toEqual(onceEach(["project", "backtrail"]));
    expect(await removeGitHooks(scene.workspace)).toEqual([]);
    expect(scene.picture(".husky")).toEqual(before);
  });
});
