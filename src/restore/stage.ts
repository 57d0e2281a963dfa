/**
 * Files as git itself writes them (filters, line endings, modes, links), made ready in a directory of ours before
 * anything of the user's is touched. That directory plays the work tree, so attributes are the target's own.
 */
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../base/errors.ts";
import { makeDirectory, removeFile } from "../base/files.ts";
import { decodePath, encodePath, onDisk, parentOf } from "../base/path-bytes.ts";
import { shownPath } from "../base/text.ts";
import { ConversionRules, nulSeparated } from "../git/conversion.ts";
import { gitFacts } from "../git/facts.ts";
import type { ObjectReader } from "../git/reader.ts";
import { git } from "../git/run.ts";
import { EXECUTABLE_MODE, SYMLINK_MODE, type TreeEntry, type TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { attributesFor, rulesFor } from "./attributes.ts";
import type { Journal } from "./journal.ts";
import type { PlannedWrite } from "./model.ts";
import type { Place } from "./move.ts";
import { writeKept, writeNew } from "./write-kept.ts";

/** Settings that concern the user's work tree and index, and would disturb a small one of ours. */
const PLAIN = [
  "core.sparseCheckout=false",
  "core.fsmonitor=false",
  "core.splitIndex=false",
  "core.untrackedCache=false",
];

interface Objects {
  trees: TreeStore;
  reader: ObjectReader;
}

/** Writes `files` below `directory`, with the attributes that hold in the tree `root`. */
export async function stage(
  workspace: Workspace,
  objects: Objects,
  root: string,
  files: readonly PlannedWrite[],
  directory: string,
): Promise<void> {
  makeDirectory(directory);
  const byGit = files.filter(({ raw }) => raw === null);
  if (byGit.length > 0) await checkOut(workspace, objects.trees, root, byGit, directory, ["checkout-index"]);
  for (const file of files) if (file.raw !== null) await writeExact(objects.reader, file, file.raw, directory);
  for (const { path } of files) requireWritten(onDisk(directory, path), path);
}

/**
 * The same with the n-th file called n. Where they go, directories are there already: to make and remove one here for
 * nearly every file would take several times as long as all the rest.
 */
export async function stageNumbered(
  workspace: Workspace,
  objects: Objects,
  root: string,
  files: readonly PlannedWrite[],
  directory: string,
  attributesStay = false,
): Promise<void> {
  makeDirectory(directory);
  const numbers = new Map(files.map(({ path }, i) => [path, String(i)]));
  const place = (path: string) => join(directory, numbers.get(path) ?? "");
  // Where they are those of the work tree, the tree need not be searched for them.
  const rules = attributesStay
    ? new ConversionRules(workspace, await gitFacts(workspace), "")
    : await rulesFor(workspace, objects, root, files);
  const kept = await writeKept(objects.reader, rules, files, place);
  const byGit = files.filter((file) => file.raw === null && file.entry.mode !== SYMLINK_MODE && !kept.has(file));
  // A temporary file can't be a link, so these are made in their directories.
  const links = files.filter(({ raw, entry }) => raw === null && entry.mode === SYMLINK_MODE);
  if (byGit.length > 0) {
    const said = await checkOut(workspace, objects.trees, root, byGit, directory, ["checkout-index", "--temp"]);
    const temporary = new Map(temporaryFiles(said));
    const mask = process.umask();
    for (const { path, entry } of byGit) {
      const written = join(directory, temporary.get(path) ?? "none");
      if (!temporary.has(path)) requireWritten(written, path);
      chmodSync(written, (entry.mode === EXECUTABLE_MODE ? 0o777 : 0o666) & ~mask);
      renameSync(written, place(path));
    }
  }
  if (links.length > 0) {
    const beside = `${directory}.links`;
    await stage(workspace, objects, root, links, beside);
    for (const { path } of links) renameSync(onDisk(beside, path), place(path));
    rmSync(beside, { recursive: true, force: true });
  }
  for (const file of files) {
    if (file.raw === null) continue;
    writeNew(place(file.path), file.entry, await objects.reader.require(file.raw, "blob"));
  }
}

/** By path, from what `checkout-index --temp -z` prints: the file's name, a tab, the path that it is for. */
function* temporaryFiles(said: Buffer): Generator<[string, string]> {
  for (let start = 0; start < said.length; ) {
    const end = said.indexOf(0, start);
    const tab = said.indexOf(9, start);
    if (end === -1 || tab === -1 || tab > end) return;
    const name = said.toString("latin1", start, tab);
    if (/^\.merge_file_\w+$/.test(name)) yield [decodePath(said.subarray(tab + 1, end)), name];
    start = end + 1;
  }
}

function requireWritten(place: string | Buffer, path: string): void {
  if (lstatSync(place, { throwIfNoEntry: false })) return;
  throw new UserError(
    "failed",
    `git did not write ${shownPath(path)}.`,
    "Nothing was changed. `git fsck` shows whether objects are missing.",
  );
}

async function checkOut(
  workspace: Workspace,
  trees: TreeStore,
  root: string,
  files: readonly PlannedWrite[],
  directory: string,
  command: readonly string[],
): Promise<Buffer> {
  const entries = new Map(files.map(({ path, entry }) => [path, entry]));
  for (const [path, entry] of await attributesFor(trees, root, files)) if (!entries.has(path)) entries.set(path, entry);
  const index = `${directory}.index`;
  const place = ["--git-dir", workspace.gitDir, "--work-tree", directory];
  const args = [...PLAIN.flatMap((setting) => ["-c", setting]), ...place];
  const options = { cwd: directory, env: { GIT_INDEX_FILE: index } };
  removeFile(index);
  try {
    await git([...args, "update-index", "-z", "--index-info"], { ...options, input: indexInfo(entries) });
    return await git([...args, ...command, "-z", "--stdin"], {
      ...options,
      input: nulSeparated(files.map(({ path }) => path)),
    });
  } catch (error) {
    const hint = messageOf(error).includes("smudge filter")
      ? "The filter's program must run here; --paths leaves its files out."
      : "Is the disk full? Otherwise `git fsck` shows whether objects are missing.";
    throw new UserError("failed", `${messageOf(error).replace(/\.?$/, ".")} Nothing was changed.`, hint);
  } finally {
    removeFile(index);
  }
}

function indexInfo(entries: ReadonlyMap<string, TreeEntry>): Buffer {
  return Buffer.concat([...entries].map(([path, entry]) => indexLine(path, entry)));
}

/** One line for `update-index -z --index-info`; null takes the path out of the index. */
export function indexLine(path: string, entry: TreeEntry | null, stage = 0, idLength = 40): Buffer {
  const head =
    entry === null ? `0 ${"0".repeat(idLength)}` : `${entry.mode} ${entry.id}${stage === 0 ? "" : ` ${stage}`}`;
  return Buffer.concat([Buffer.from(`${head}\t`), encodePath(path), Buffer.from([0])]);
}

async function writeExact(reader: ObjectReader, file: PlannedWrite, id: string, directory: string): Promise<void> {
  const place = onDisk(directory, file.path);
  mkdirSync(onDisk(directory, parentOf(file.path)), { recursive: true });
  writeNew(place, file.entry, await reader.require(id, "blob"));
}

export function stagingDirectory(restoreDirectory: string): string {
  return join(restoreDirectory, "files");
}

/** Where the n-th file of a journal waits. Journals of version 1 have them under their own paths. */
export function stagedPlace(restoreDirectory: string, journal: Pick<Journal, "v" | "files">, n: number): Place {
  const staged = stagingDirectory(restoreDirectory);
  if (journal.v === 2) return join(staged, String(n));
  return onDisk(staged, journal.files.write[n]?.path ?? "");
}
