import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { started, whyOf } from "../../../test/support/restore-sandbox.ts";
import { applyRewind, planRewind } from "../rewind.ts";

test("a file that git ignored then is not taken for new because its rule has gone", async () => {
  using ground = await started();
  ground.write(".gitignore", ".env\n*.log\n");
  ground.write("sub/keep.txt", "x\n");
  ground.write(".env", "SECRET=1\n");
  ground.write("sub/a.log", "log\n");
  const step = await ground.save();
  ground.write(".gitignore", "");
  ground.write("sub/.gitignore", "!a.log\n");
  ground.write("new.txt", "new\n");
  const plan = await planRewind(ground.workspace, { kind: "step", step }, {});
  expect(plan.delete).toEqual(["new.txt", "sub/.gitignore"]);
  expect(whyOf(plan, ".env")).toBe("git ignored it at this step, so it is not changed");
  expect(whyOf(plan, "sub/a.log")).toBeDefined();
  await applyRewind(ground.workspace, plan);
  expect([".env", "sub/a.log", ".gitignore"].map((name) => readFileSync(join(ground.root, name), "utf8"))).toEqual([
    "SECRET=1\n",
    "log\n",
    ".env\n*.log\n",
  ]);
});

test("a merge that was begun since is named, since the next commit would conclude it", async () => {
  using ground = await started();
  ground.git("checkout", "--quiet", "-b", "other");
  ground.write("b.txt", "theirs\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "other");
  ground.git("checkout", "--quiet", "main");
  const before = await ground.save();
  ground.git("merge", "--quiet", "--no-commit", "--no-ff", "other");
  const during = await ground.save();
  ground.write("a.txt", "two\n");
  const rows = async (step: typeof before) =>
    (await planRewind(ground.workspace, { kind: "step", step }, {})).notUndone;
  expect(await rows(before)).toEqual([{ kind: "in-progress", operation: "merge" }]);
  expect(await rows(during)).toEqual([]);
});

test("what no step could hold and is gone now is named", async () => {
  using ground = await started();
  ground.write("nested/x", "x\n");
  ground.git("init", "--quiet", "nested");
  const step = await ground.save();
  const rows = async () => (await planRewind(ground.workspace, { kind: "step", step }, {})).notUndone;
  expect(await rows()).toEqual([]);
  rmSync(join(ground.root, "nested"), { recursive: true });
  expect(await rows()).toEqual([{ kind: "not-captured", path: "nested", reason: "nested-repository", isGone: true }]);
});

test("a branch that was checked out since is named", async () => {
  using ground = await started();
  const step = await ground.save();
  ground.git("checkout", "--quiet", "-b", "other");
  ground.write("b.txt", "b\n");
  const plan = await planRewind(ground.workspace, { kind: "step", step }, {});
  expect(whyOf(plan, "You are on branch other; this step was on branch main")).toBeDefined();
});

test("a changed file that git is set not to check is named", async () => {
  using ground = await started();
  for (const name of ["assumed.txt", "skipped.txt", "same.txt"]) ground.write(name, "one\n");
  ground.git("add", "--all");
  ground.git("commit", "--quiet", "-m", "marked");
  ground.git("update-index", "--assume-unchanged", "assumed.txt", "same.txt");
  ground.git("update-index", "--skip-worktree", "skipped.txt");
  await new Promise((resolve) => setTimeout(resolve, 20));
  const step = await ground.save();
  const rows = async () => (await planRewind(ground.workspace, { kind: "step", step }, {})).notUndone;
  expect(await rows()).toEqual([]);
  ground.write("assumed.txt", "two\n");
  ground.write("skipped.txt", "two\n");
  expect(await rows()).toEqual([
    { kind: "left-alone", path: "assumed.txt", reason: { kind: "unwatched" } },
    { kind: "left-alone", path: "skipped.txt", reason: { kind: "unwatched" } },
  ]);
});
