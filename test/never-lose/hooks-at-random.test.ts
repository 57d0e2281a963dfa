/** Comings and goings at random: after each, a commit ends; in the end everybody's hooks run once and the user's come back. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  inspectGitHooks,
  installGitHooks,
  removeGitHooks,
  repairGitHooks,
} from "../../src/checkpoints/git-hooks/install.ts";
import { type ChainingManager, ENTIRE, installManager, removeManager } from "../support/chaining-manager.ts";
import { HookedRepository, onceEach } from "../support/hook-log.ts";

const UNKNOWN: ChainingManager = { mark: "hooks of another tool", keepsAs: ".orig", call: "exec", again: "overwrite" };
const managers = fc.constantFrom<ChainingManager>(ENTIRE, { ...ENTIRE, again: "rotate" }, UNKNOWN, {
  ...UNKNOWN,
  again: "rotate",
});
const EVENTS = ["user", "enable", "disable", "worker", "manager", "manager leaves", "commit"] as const;
type Event = (typeof EVENTS)[number];

/** Who should run after these events. */
class Parties {
  user = false;
  manager = false;
  backtrail = false;

  names(): string[] {
    return (["user", "manager", "backtrail"] as const).filter((name) => this[name]);
  }
}

async function happen(scene: HookedRepository, manager: ChainingManager, parties: Parties, what: Event): Promise<void> {
  const { workspace, executable } = scene;
  switch (what) {
    case "user":
      parties.user = true;
      scene.userHooks();
      return repairGitHooks(workspace);
    case "enable":
      parties.backtrail = true;
      await installGitHooks(workspace, executable);
      return;
    case "disable":
      parties.backtrail = false;
      await removeGitHooks(workspace);
      return;
    case "worker":
      return repairGitHooks(workspace);
    case "commit":
      expect(Math.max(0, ...Object.values(await scene.commitAndPush()))).toBeLessThanOrEqual(1);
      return;
    case "manager":
      parties.manager = true;
      return installManager(scene, manager);
    case "manager leaves":
      // It removes only what has git's own name for the hook; a prompt has given it that by now.
      if (parties.manager) installManager(scene, manager);
      await repairGitHooks(workspace);
      parties.manager = false;
      return removeManager(scene, manager);
  }
}

test("hooks installed and removed in any order", async () => {
  const runs = Number(process.env["BACKTRAIL_HOOK_RUNS"] ?? 12);
  await fc.assert(
    fc.asyncProperty(
      managers,
      fc.array(fc.constantFrom(...EVENTS), { minLength: 2, maxLength: 9 }),
      async (manager, events) => {
        using scene = new HookedRepository();
        const parties = new Parties();
        for (const what of events) await happen(scene, manager, parties, what);
        if (parties.manager) installManager(scene, manager);
        await happen(scene, manager, parties, "commit");
        await repairGitHooks(scene.workspace);
        expect(await scene.commitAndPush()).toEqual(onceEach(parties.names()));
        if (parties.backtrail)
          expect((await inspectGitHooks(scene.workspace, scene.executable)).state).toBe("installed");
      },
    ),
    { numRuns: runs, seed: Number(process.env["BACKTRAIL_HOOK_SEED"] ?? 1) },
  );
});
