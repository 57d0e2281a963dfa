/** Two tools that put their hooks back at each prompt, beside ours: everybody's hooks run once, and none is dropped. */
import { expect, test } from "bun:test";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { type ChainingManager, ENTIRE, installManager } from "../support/chaining-manager.ts";
import { HookedRepository, onceEach } from "../support/hook-log.ts";

const OTHERS: Record<string, ChainingManager> = {
  "runs it": { mark: "hooks of another tool", keepsAs: ".orig", call: "run", again: "overwrite", who: "second" },
  "becomes it": { mark: "hooks of another tool", keepsAs: ".orig", call: "exec", again: "overwrite", who: "second" },
};
const first: ChainingManager = { ...ENTIRE, who: "manager" };

for (const [how, second] of Object.entries(OTHERS)) {
  for (const order of ["us first", "us last"] as const) {
    test(`${order}, and the second ${how}`, async () => {
      using scene = new HookedRepository();
      const { workspace, executable } = scene;
      scene.userHooks();
      const enable = () => installGitHooks(workspace, executable);
      const steps = [() => installManager(scene, first), () => installManager(scene, second)];
      const place = order === "us first" ? 0 : 2;
      for (const step of steps.toSpliced(place, 0, async () => void (await enable()))) await step();
      const all = onceEach(["user", "manager", "second", "backtrail"]);
      await repairGitHooks(workspace);
      expect(await scene.commitAndPush()).toEqual(all);
      for (let prompt = 0; prompt < 2; prompt++) {
        installManager(scene, first);
        installManager(scene, second);
        await (prompt === 1 ? enable() : repairGitHooks(workspace));
        expect(await scene.commitAndPush()).toEqual(all);
      }
      expect((await inspectGitHooks(workspace, executable)).state).toBe("installed");
      await removeGitHooks(workspace);
      expect(await scene.commitAndPush()).toEqual(onceEach(["user", "manager", "second"]));
    });
  }
}

test("two that have come to call each other: the user's hook is kept, and everybody runs once", async () => {
  using scene = new HookedRepository();
  const { workspace, executable } = scene;
  const again: ChainingManager = { ...first, again: "rotate" };
  const second: ChainingManager = {
    mark: "138fd403232d2ddd5efb44317e38bf03",
    keepsAs: ".legacy",
    call: "run",
    again: "overwrite",
    who: "second",
  };
  scene.userHooks();
  installManager(scene, again);
  await installGitHooks(workspace, executable);
  installManager(scene, second);
  installManager(scene, again);
  await installGitHooks(workspace, executable);
  expect((await inspectGitHooks(workspace, executable)).state).toBe("installed");
  expect(await scene.commitAndPush()).toEqual(onceEach(["user", "manager", "second", "backtrail"]));
  await removeGitHooks(workspace);
  expect(await scene.commitAndPush()).toEqual(onceEach(["user", "manager", "second"]));
});
