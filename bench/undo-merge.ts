/** Prints how many milliseconds one merge of an undo takes: `<work tree> <before> <after> <now>`. */

import { ObjectReader } from "../src/git/objects/reader.ts";
import { compareTrees } from "../src/git/objects/tree-diff.ts";
import { TreeStore } from "../src/git/objects/trees.ts";
import { ObjectWriter } from "../src/git/objects/writer.ts";
import { findWorkspace } from "../src/git/workspace.ts";
import { revertChanges } from "../src/restore/revert/revert.ts";

const [root = "", before = "", after = "", now = ""] = process.argv.slice(2);
const workspace = await findWorkspace(root);
if (!workspace) throw new Error(`${root} is not enabled.`);
const reader = new ObjectReader(workspace);
const writer = new ObjectWriter(workspace);
const trees = new TreeStore(reader, writer);
const paths = (await compareTrees(trees, before, after)).map(({ path }) => path);
const change = { before: { work: before, raw: null }, after: { work: after, raw: null }, paths, name: "turn-1" };
const merge = () => revertChanges(workspace, { trees, writer }, { work: now, raw: null }, [change], false);
// The program's own start, and that of each of its functions, is in the plan's row.
await merge();
const began = performance.now();
const merged = await merge();
const time = performance.now() - began;
reader.close();
if (merged.conflicts.length > 0 || merged.work === now) throw new Error("The merge did not do what it should.");
console.log(time);
