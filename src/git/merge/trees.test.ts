import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { ObjectWriter } from "../objects/writer.ts";
import { mergeTrees } from "./trees.ts";

ownHome();

const LINES = Array.from({ length: 9 }, (_, i) => `line ${i + 1}\n`).join("");
const NAMES = { ours: "now", theirs: "before-turn-2" };

test("three trees, in a directory whose name git needs quoted", async () => {
  using outside = temporaryRepository();
  const root = outside.at('odd: "name\\');
  mkdirSync(root);
  const git = (...args: string[]) => outside.git("-C", root, ...args);
  git("init", "--quiet");
  const tree = (files: Record<string, string>) => {
    git("read-tree", "--empty");
    for (const [path, content] of Object.entries(files)) {
      outside.write(`blob`, content);
      const id = git("hash-object", "-w", outside.at("blob"));
      git("update-index", "--add", "--cacheinfo", `100644,${id},${path}`);
    }
    return git("write-tree");
  };
  const workspace = await enabledWorkspace(root);
  const base = tree({ "a b.txt": LINES, bin: "a\0b", gone: "x\n", same: LINES });
  const ours = tree({ "a b.txt": LINES.replace("line 2", "two"), bin: "c\0d", same: LINES.replace("line 1", "one") });
  const theirs = tree({
    "a b.txt": LINES.replace("line 2", "II"),
    bin: "e\0f",
    gone: "y\n",
    same: LINES.replace("9", "nine"),
  });
  const merged = await mergeTrees(workspace, new ObjectWriter(workspace), { base, ours, theirs }, NAMES);
  expect(git("show", `${merged.tree}:same`)).toBe(LINES.replace("line 1", "one").replace("9", "nine").trimEnd());
  expect(git("show", `${merged.tree}:a b.txt`)).toContain("<<<<<<< now\ntwo\n=======\nII\n>>>>>>> before-turn-2");
  const kinds = merged.conflicts.map(({ kind, paths }) => `${paths.join()}: ${kind}`).sort();
  expect(kinds).toEqual(["a b.txt: contents", "bin: binary", "bin: contents", "gone: modify/delete"]);
  expect(merged.undecided.map(({ path, stages }) => [path, stages.map(({ stage }) => stage)])).toEqual([
    ["a b.txt", [1, 2, 3]],
    ["bin", [1, 2, 3]],
    ["gone", [1, 3]],
  ]);
  // The commits that it takes are not left in the user's repository.
  expect(git("fsck", "--full").includes("commit")).toBe(false);
});
