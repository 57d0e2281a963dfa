/** Prints how many milliseconds one merge of an undo takes: `<work tree> <before> <after> <now>`. */
import { ObjectWriter } from "../src/git/objects.ts";
import { ObjectReader } from "../src/git/reader.ts";
import { compareTrees } from "../src/git/tree-diff.ts";
import { TreeStore } from "../src/git/trees.ts";
import { findWorkspace } from "../src/git/workspace.ts";
import { takeBack } from "../src/restore/take-back.ts";

const [root = "", before = "", after = "", now = ""] = process.argv.slice(2);
const workspace = await findWorkspace(root);
if (!workspace) throw new Error(`${root} is not enabled.`);
const reader = new ObjectReader(workspace);
const writer = new ObjectWriter(workspace);
const trees = new TreeStore(reader, writer);
const paths = (await compareTrees(trees, before, after)).map(({ path }) => path);
const began = performance.now();
const change = { before: { work: before, raw: null }, after: { work: after, raw: null }, paths, name: "turn-1" };
const merged = await takeBack(workspace, { trees, writer }, { work: now, raw: null }, [change], false);
const time = performance.now() - began;
reader.close();
if (merged.conflicts.length > 0 || merged.work === now) throw new Error("The merge did not do what it should.");
console.log(time);
