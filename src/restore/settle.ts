/**
 * After a restore: what was moved aside goes if a safety step holds it byte for byte, and is kept where none does,
 * because somebody wrote to it in between, or because git does not keep the line endings that it has.
 */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { namesIn } from "../base/files.ts";
import { logError } from "../base/log.ts";
import { onDisk, parentOf } from "../base/path-bytes.ts";
import { plural, shownPath } from "../base/text.ts";
import { ConversionRules, isAttributesFile } from "../git/conversion.ts";
import { gitFacts } from "../git/facts.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { TREE_MODE, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { asideDirectory } from "./files.ts";
import { type Journal, restoreDirectory } from "./journal.ts";
import type { PlannedWrite } from "./model.ts";
import { contentAt, markAt, removeEmptyTree, safeStat, sameContent } from "./move.ts";
import { stageNumbered } from "./stage.ts";
import { entryAt } from "./state.ts";

interface Moved {
  path: string;
  aside: string;
}

interface Objects {
  trees: TreeStore;
  reader: ObjectReader;
  rules: ConversionRules;
}

/** Sentences about files that were kept. */
export async function settle(workspace: Workspace, journal: Journal): Promise<string[]> {
  const moved = movedAside(workspace, journal);
  if (moved.length === 0) return [];
  const rules = new ConversionRules(workspace, await gitFacts(workspace), touchesAttributes(journal) ? "changed" : "");
  const late = new Set(journal.late);
  // The very file that was there before the safety step looked, unchanged since.
  const isUntouched = ({ path, aside }: Moved) => !late.has(path) && markAt(aside) === journal.marks[path];
  let doubtful = moved.filter((one) => !isUntouched(one) || mayBeInexact(rules, one));
  if (doubtful.length === 0) return [];
  const reader = new ObjectReader(workspace);
  try {
    const objects = { reader, trees: new TreeStore(reader, new ObjectWriter(workspace)) };
    for (const safety of journal.safety)
      doubtful = await notHeld(workspace, { ...objects, rules }, journal.id, safety, doubtful);
  } finally {
    reader.close();
  }
  return keep(workspace, journal.id, doubtful);
}

/** Then the attributes that lie here now say nothing about the files that were moved. */
function touchesAttributes({ files }: Journal): boolean {
  const paths = [...files.delete, ...files.write.map(({ path }) => path)];
  return paths.some(isAttributesFile);
}

function movedAside(workspace: Workspace, journal: Journal): Moved[] {
  const paths = [...journal.files.delete, ...journal.files.write.map(({ path }) => path)];
  const directory = asideDirectory(restoreDirectory(workspace, journal.id));
  return namesIn(directory).flatMap((name) => {
    const path = paths[Number.parseInt(name, 10)];
    return path === undefined || name.endsWith(".part") ? [] : [{ path, aside: join(directory, name) }];
  });
}

/** git says "unchanged" of a file whose line endings alone differ from what it would write. */
function mayBeInexact(rules: ConversionRules, { path, aside }: Moved): boolean {
  if (rules.printAt(path) === "" || !safeStat(aside)?.isFile()) return false;
  const content = contentAt(aside);
  return content !== undefined && rules.mayConvert(path, content);
}

/** Those that this safety step does not give back as they are. */
async function notHeld(
  workspace: Workspace,
  objects: Objects,
  id: string,
  safety: Journal["safety"][number],
  doubtful: readonly Moved[],
): Promise<Moved[]> {
  const left: Moved[] = [];
  const byGit: (Moved & PlannedWrite)[] = [];
  for (const moved of doubtful) {
    if (safeStat(moved.aside)?.isDirectory() && removeEmptyTree(moved.aside)) continue;
    const content = contentAt(moved.aside);
    const entry = await entryAt(objects.trees, safety.work, moved.path);
    const raw = await entryAt(objects.trees, safety.raw, moved.path);
    if (!content || !entry || entry.mode === TREE_MODE) left.push(moved);
    else if (!raw && entry.id === blobId(workspace, content) && !objects.rules.mayConvert(moved.path, content))
      continue;
    else if (!raw) byGit.push({ ...moved, entry, raw: null });
    else if (raw.id !== blobId(workspace, content)) left.push(moved);
  }
  return [...left, ...(await otherThanGitWrites(workspace, objects, id, safety.work, byGit))];
}

/** Compares with what git, writing the stored forms back, would give: line endings, filters. */
async function otherThanGitWrites(
  workspace: Workspace,
  objects: Objects,
  id: string,
  tree: string,
  files: readonly (Moved & PlannedWrite)[],
): Promise<Moved[]> {
  if (files.length === 0) return [];
  const directory = join(restoreDirectory(workspace, id), "compare");
  try {
    rmSync(directory, { recursive: true, force: true });
    // The same path can have been moved aside twice.
    const once = [...new Map(files.map((file) => [file.path, file])).values()];
    try {
      await stageNumbered(workspace, objects, tree, once, directory);
    } catch (error) {
      // A filter fails, or the disk is full: what can't be compared is kept.
      logError("comparing with what git writes", error);
      return [...files];
    }
    const numbers = new Map(once.map(({ path }, n) => [path, String(n)]));
    return files.filter(({ path, aside }) => !sameContent(join(directory, numbers.get(path) ?? ""), aside));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function keep(workspace: Workspace, id: string, files: readonly Moved[]): string[] {
  if (files.length === 0) return [];
  const directory = join(workspace.stateDir, "kept", id);
  for (const { path, aside } of files) {
    let target = onDisk(directory, path);
    mkdirSync(onDisk(directory, parentOf(path)), { recursive: true, mode: 0o700 });
    for (let i = 1; safeStat(target); i++) target = onDisk(directory, `${path}.${i}`);
    renameSync(aside, target);
  }
  const shown = files.slice(0, 3).map(({ path }) => shownPath(path));
  const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : "";
  return [
    `What was in the way is not in the safety step byte for byte for ${plural(files.length, "file")} (${shown.join(", ")}${more}); it is kept in ${directory}.`,
  ];
}

function blobId(workspace: Workspace, content: Buffer): string {
  return hexDigest(workspace.hash, `blob ${content.length}\0`, content);
}
