import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { started } from "../../../test/support/restore-sandbox.ts";
import { gitChangesBetween } from "./git-refs.ts";

test("a line of the stash log that names no time is not reported as a new stash", async () => {
  using ground = await started();
  ground.write("a.txt", "two\n");
  ground.git("stash", "push", "--quiet", "-m", "mine");
  const log = join(ground.workspace.commonDir, "logs", "refs", "stash");
  writeFileSync(log, `damaged line\n${readFileSync(log, "utf8")}`);
  const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
  expect(await gitChangesBetween(ground.workspace, always)).toEqual([
    { kind: "branch", name: "main" },
    { kind: "stash", name: '"On main: mine"' },
  ]);
});
