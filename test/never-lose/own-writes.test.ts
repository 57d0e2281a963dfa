import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownFile } from "../../src/config/load.ts";
import { applyRedo, planRedo } from "../../src/restore/redo.ts";
import { started } from "../support/restore-sandbox.ts";

const LARGE = "x".repeat(200);
const SETTINGS = JSON.stringify({ capture: { max_file_size: 100 } });

/** One commit in which `large.txt`, above the limit for untracked files, and `forced.log`, which is ignored, are tracked. */
async function withTracked() {
  const ground = await started();
  ground.write(".gitignore", "*.log\n");
  writeFileSync(ownFile(ground.workspace), SETTINGS);
  ground.write("large.txt", LARGE);
  ground.write("forced.log", "log\n");
  ground.git("add", "--all");
  ground.git("add", "--force", "forced.log");
  ground.git("commit", "--quiet", "-m", "large");
  return ground;
}

test("redo undoes the rewind's writes that no snapshot would hold: large and ignored files", async () => {
  using ground = await withTracked();
  const step = await ground.save();
  ground.git("rm", "--quiet", "large.txt", "forced.log");
  ground.git("commit", "--quiet", "-m", "gone");
  const there = () => ["large.txt", "forced.log"].filter((name) => existsSync(join(ground.root, name)));
  await ground.rewind(step, { codeOnly: true });
  expect(there()).toEqual(["large.txt", "forced.log"]);
  ground.write("forced.log", "changed since\n");
  const { safetyStep } = await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(there()).toEqual([]);
  // What was there when it was taken back is in the step that redo saved first.
  expect(safetyStep).not.toBe("");
  const listed = ground.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions/");
  const blob = ground.git("rev-parse", `${listed}:steps`);
  const all = ground.git("ls-tree", "-r", "--name-only", blob);
  expect(all).toContain(`${safetyStep}/work/forced.log`);
  expect(all).toContain(`${safetyStep}/work/large.txt`);
});

test("a file that became untracked and large is in the safety step and is restored", async () => {
  using ground = await withTracked();
  const step = await ground.save();
  ground.git("rm", "--quiet", "--cached", "large.txt");
  ground.git("commit", "--quiet", "-m", "untracked");
  ground.write("large.txt", `${LARGE} and more`);
  const { plan } = await ground.rewind(step, { codeOnly: true });
  expect(plan.write).toEqual(["large.txt"]);
  const text = () => ground.read("large.txt");
  expect(text()).toBe(LARGE);
  await applyRedo(ground.workspace, await planRedo(ground.workspace));
  expect(text()).toBe(`${LARGE} and more`);
});
