/** Which attributes hold for files of a tree: its own, whatever lies in the work tree. */
import { directoriesAbove } from "../base/path-bytes.ts";
import { attributesFile, ConversionRules } from "../git/conversion.ts";
import { gitFacts } from "../git/facts.ts";
import type { ObjectReader } from "../git/reader.ts";
import type { TreeEntry, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { entryAt } from "./state.ts";

/** The .gitattributes files on the way to each path. */
export async function attributesFor(
  trees: TreeStore,
  root: string,
  files: readonly { path: string }[],
): Promise<Map<string, TreeEntry>> {
  const found = new Map<string, TreeEntry>();
  for (const directory of directoriesAbove(files.map(({ path }) => path))) {
    const path = attributesFile(directory);
    const entry = await entryAt(trees, root, path);
    if (entry?.mode.startsWith("100")) found.set(path, entry);
  }
  return found;
}

/** What git does to these files when it writes them. */
export async function rulesFor(
  workspace: Workspace,
  { trees, reader }: { trees: TreeStore; reader: ObjectReader },
  root: string,
  files: readonly { path: string }[],
): Promise<ConversionRules> {
  const texts = new Map<string, string>();
  for (const [path, { id }] of await attributesFor(trees, root, files))
    texts.set(path, (await reader.require(id, "blob")).toString("utf8"));
  const facts = await gitFacts(workspace);
  return new ConversionRules(workspace, facts, "", (directory) => texts.get(attributesFile(directory)));
}
