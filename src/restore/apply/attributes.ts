/** Reads the attributes that apply to files of a tree from the tree itself, not from the work tree. */
import { directoriesAbove } from "../../base/fs/path-bytes.ts";
import { factsUnder, readConversionConfig } from "../../git/conversion/config-cache.ts";
import { attributesFile, ConversionRules } from "../../git/conversion/conversion.ts";
import type { ObjectReader } from "../../git/objects/reader.ts";
import { entryAt, type TreeEntry, type TreeStore } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { LineEndSettings } from "../../model/step.ts";

/** The .gitattributes files above each path. */
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

/** git's conversion rules for writing these files; `lineEnds` overrides the current line-ending settings. */
export async function rulesFor(
  workspace: Workspace,
  { trees, reader }: { trees: TreeStore; reader: ObjectReader },
  root: string,
  files: readonly { path: string }[],
  lineEnds?: LineEndSettings,
): Promise<ConversionRules> {
  const texts = new Map<string, string>();
  for (const [path, { id }] of await attributesFor(trees, root, files))
    texts.set(path, (await reader.require(id, "blob")).toString("utf8"));
  const facts = factsUnder(await readConversionConfig(workspace), lineEnds);
  return new ConversionRules(workspace, facts, "", (directory) => texts.get(attributesFile(directory)));
}
