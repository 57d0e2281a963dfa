/**
 * Finds files that git stores identically now and then, but that git writes to disk with other bytes, because its
 * settings for line endings or the attributes have changed since. No snapshot holds their exact bytes, since a checkout
 * under the settings of its time writes them.
 */
import { readFileSync } from "node:fs";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { type ConversionRules, isAttributesFile } from "../../git/conversion/conversion.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import type { TreeEntry, TreeStore } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { LineEndSettings } from "../../model/step.ts";
import { contentId } from "../apply/content.ts";

/** git detects binary files by a NUL within this many bytes. */
const BINARY_WITHIN = 8_000;

export interface Settings {
  lineEnds?: LineEndSettings | undefined;
}

/** False if git wrote every file then as it writes it now. */
export function hasChangedSettings(present: Settings, target: Settings, different: Iterable<string>): boolean {
  if (!present.lineEnds || !target.lineEnds) return false;
  return present.lineEnds !== target.lineEnds || [...different].some(isAttributesFile);
}

/** The regular files of a tree, except the paths in `known`. */
export async function otherFiles(
  trees: TreeStore,
  tree: string,
  known: (path: string) => boolean,
): Promise<Map<string, TreeEntry>> {
  const files = new Map<string, TreeEntry>();
  for (const { path, after } of await compareTrees(trees, null, tree)) {
    if (after?.mode.startsWith("100") && !known(path)) files.set(path, after);
  }
  return files;
}

/** The files whose bytes on disk differ from those that git wrote then. */
export function convertedOtherwise(
  workspace: Workspace,
  files: ReadonlyMap<string, TreeEntry>,
  now: ConversionRules,
  then: ConversionRules,
): Map<string, TreeEntry> {
  const found = new Map<string, TreeEntry>();
  for (const [path, entry] of files) {
    const [isPlainNow, isPlainThen] = [now.writesUnchanged(path), then.writesUnchanged(path)];
    if (isPlainNow && isPlainThen) continue;
    const place = onDisk(workspace.root, path);
    const isOther = isPlainThen
      ? contentId(place, workspace.hash) !== entry.id
      : isPlainNow && (then.mayFilter(path) || mayHaveLineEnds(place));
    if (isOther) found.set(path, entry);
  }
  return found;
}

/** False is certain: git changes no line ends in a file that has none, or that has a NUL near its beginning. */
function mayHaveLineEnds(place: Buffer | string): boolean {
  try {
    const content = readFileSync(place);
    return content.includes(0x0a) && !content.subarray(0, BINARY_WITHIN).includes(0);
  } catch {
    return true;
  }
}
