/** Backtrail beside the real lefthook, which moves what it finds to `<hook>.old` and does not call it from there. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { HookedRepository, onceEach, SHARED_HOOKS } from "../support/hook-log.ts";
import { available, LEFTHOOK } from "./install.ts";

const program = await available(LEFTHOOK);

function lefthook(scene: HookedRepository, ...args: string[]): void {
  const { repository } = scene;
  const options = { cwd: repository.path, env: repository.environment(), encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(program ?? "", args, options);
  if (status !== 0) throw new Error(`lefthook ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
}

function configure(scene: HookedRepository, more = ""): void {
  const hooks = SHARED_HOOKS.map((hook) => `${hook}:\n  jobs:\n    - run: ${scene.program(hook, "manager")}\n`);
  scene.repository.write("lefthook.yml", `${more}${hooks.join("")}`);
}

const install = (scene: HookedRepository) => installGitHooks(scene.workspace, scene.executable);
const stateOf = async (scene: HookedRepository) => (await inspectGitHooks(scene.workspace, scene.executable)).state;

/** The user's own hooks, lefthook's and Backtrail's, in the given order; then Backtrail repairs its hooks. */
async function setUp(scene: HookedRepository, order: readonly string[], hasUser: boolean): Promise<void> {
  configure(scene);
  if (hasUser) scene.userHooks();
  for (const party of order) {
    if (party === "manager") lefthook(scene, "install");
    else await install(scene);
  }
  await repairGitHooks(scene.workspace);
}

describe.skipIf(program === null)("lefthook", () => {
  for (const order of [
    ["manager", "backtrail"],
    ["backtrail", "manager"],
  ] as const) {
    for (const hasUser of [false, true]) {
      test(`${hasUser ? "user, " : ""}${order.join(", ")}`, async () => {
        using scene = new HookedRepository();
        await setUp(scene, order, hasUser);
        expect(await stateOf(scene)).toBe("installed");
        expect(await scene.commitAndPush()).toEqual(onceEach(order));
        // lefthook does the same by itself when its configuration has changed, at a commit.
        configure(scene, "min_version: 1.0.0\n");
        expect(await scene.commitAndPush()).toMatchObject(onceEach(["manager"]));
        lefthook(scene, "install");
        await repairGitHooks(scene.workspace);
        expect(await stateOf(scene)).toBe("installed");
        expect(await scene.commitAndPush()).toEqual(onceEach(order));
        expect(await removeGitHooks(scene.workspace)).toEqual([]);
        expect(await scene.commitAndPush()).toEqual(onceEach(["manager"]));
        lefthook(scene, "uninstall");
        const found = scene.picture();
        if (hasUser) scene.userHooks();
        expect(found).toEqual(hasUser ? scene.picture() : {});
      });

      test(`${hasUser ? "user, " : ""}${order.join(", ")}; then lefthook leaves first`, async () => {
        using scene = new HookedRepository();
        await setUp(scene, order, hasUser);
        lefthook(scene, "uninstall");
        await repairGitHooks(scene.workspace);
        expect(await scene.commitAndPush()).toEqual(onceEach(hasUser ? ["user", "backtrail"] : ["backtrail"]));
        expect(await removeGitHooks(scene.workspace)).toEqual([]);
        const found = scene.picture();
        if (hasUser) scene.userHooks();
        expect(found).toEqual(hasUser ? scene.picture() : {});
      });
    }
  }
});
