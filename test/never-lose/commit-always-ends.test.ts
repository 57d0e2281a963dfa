/** Several tools that put their git hooks back at each prompt: a commit always ends, and everybody's hooks run once. */
import { expect, test } from "bun:test";
import { inspectGitHooks, installGitHooks, repairGitHooks } from "../../src/checkpoints/git-hooks/install.ts";
import { type ChainingManager, ENTIRE, installManager } from "../support/chaining-manager.ts";
import { HookedRepository, onceEach, SHARED_HOOKS } from "../support/hook-log.ts";

type Party = "user" | "manager" | "backtrail";
const ORDERS: Party[][] = [
  ["manager", "backtrail"],
  ["backtrail", "manager"],
  ["user", "manager", "backtrail"],
  ["user", "backtrail", "manager"],
  ["manager", "user", "backtrail"],
  ["manager", "backtrail", "user"],
  ["backtrail", "user", "manager"],
  ["backtrail", "manager", "user"],
];

const UNKNOWN: ChainingManager = { mark: "hooks of another tool", keepsAs: ".orig", call: "run", again: "overwrite" };
const MANAGERS: Record<string, ChainingManager> = {
  "Entire, as it was": ENTIRE,
  "Entire, as it is": { ...ENTIRE, call: "exec", again: "rotate" },
  "a tool that nobody knows": UNKNOWN,
  "a tool that nobody knows and that keeps the newest": { ...UNKNOWN, call: "exec", again: "rotate" },
};

async function arrive(scene: HookedRepository, party: Party, manager: ChainingManager): Promise<void> {
  if (party === "user") scene.userHooks();
  else if (party === "manager") installManager(scene, manager);
  else await installGitHooks(scene.workspace, scene.executable);
  // Before the manager's next prompt, at which it may overwrite a hook that is not its own.
  await repairGitHooks(scene.workspace);
}

for (const [name, manager] of Object.entries(MANAGERS)) {
  for (const order of ORDERS) {
    test(`${name}: ${order.join(", ")}`, async () => {
      using scene = new HookedRepository();
      for (const party of order) await arrive(scene, party, manager);
      installManager(scene, manager);
      // Between the manager's prompt and our worker as well as after it.
      expect(await scene.commitAndPush()).toEqual(onceEach(order));
      await repairGitHooks(scene.workspace);
      expect(await scene.commitAndPush()).toEqual(onceEach(order));
      expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("installed");
      const settled = scene.picture();
      for (let prompt = 0; prompt < 3; prompt++) {
        installManager(scene, manager);
        await repairGitHooks(scene.workspace);
        expect(scene.picture()).toEqual(settled);
      }
    });
  }
}

test("in linked work trees it is the same", async () => {
  using scene = new HookedRepository();
  const { repository } = scene;
  scene.userHooks();
  await installGitHooks(scene.workspace, scene.executable);
  installManager(scene, ENTIRE);
  await repairGitHooks(scene.workspace);
  repository.git("worktree", "add", "--quiet", "../tree");
  const { state } = await inspectGitHooks(scene.workspace, scene.executable);
  expect(state).toBe("installed");
  expect(await scene.commitAndPush(repository.at("../tree"))).toEqual(onceEach(["user", "manager", "backtrail"]));
});

test("Backtrail gives up on a tool that replaces hooks at each prompt and calls none, and doctor says so", async () => {
  using scene = new HookedRepository();
  const replace = () => {
    for (const hook of SHARED_HOOKS) scene.script(`.git/hooks/${hook}`, [scene.line(hook, "manager")]);
  };
  await installGitHooks(scene.workspace, scene.executable);
  const states = new Set<string>();
  for (let prompt = 0; prompt < 12; prompt++) {
    replace();
    await repairGitHooks(scene.workspace);
    states.add((await inspectGitHooks(scene.workspace, scene.executable)).state);
  }
  expect([...states]).toEqual(["installed", "contested"]);
  expect(await scene.commitAndPush()).toEqual(onceEach(["manager"]));
  // Somebody who asks for it gets them back.
  await installGitHooks(scene.workspace, scene.executable);
  expect(await scene.commitAndPush()).toEqual(onceEach(["manager", "backtrail"]));
  expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("installed");
});
