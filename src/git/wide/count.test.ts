import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { captured } from "../../../test/support/captured.ts";
import { temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { readLoose } from "../objects/loose.ts";
import { packLooseObjects } from "../objects/pack-loose.ts";
import { countWideTrees, hasManyWideTrees, restartWideTreeCount } from "./count.ts";

ownHome();

test("each wide tree that a snapshot stores counts, and the worker packs them when there are many", async () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 1_000; i++) repository.write(`src/file-${i}`, "");
  repository.commit("many files in one directory");
  const workspace = await enabledWorkspace(repository.path);
  const objects = repository.at(".git", "objects");

  countWideTrees(workspace, 18);
  repository.write("src/file-1", "one");
  const { work } = await captured(workspace, { remembered: repository });
  const wide = repository.git("rev-parse", `${work}:src`);
  expect(readLoose(objects, wide)).toBeDefined();
  await restartWideTreeCount(workspace);
  await packLooseObjects(workspace);
  expect(readLoose(objects, wide)).toBeDefined();

  repository.write("src/file-1", "two");
  await captured(workspace, { remembered: repository });
  expect(hasManyWideTrees(workspace)).toBe(true);
  await packLooseObjects(workspace);
  expect(readLoose(objects, wide)).toBeUndefined();
  expect(repository.git("cat-file", "-t", wide)).toBe("tree");
  await restartWideTreeCount(workspace);
  expect(hasManyWideTrees(workspace)).toBe(false);
  expect(readdirSync(workspace.stateDir)).not.toContain("loose-wide-trees");
});
