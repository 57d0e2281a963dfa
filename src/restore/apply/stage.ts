/**
 * Stages files as git writes them (filters, line endings, modes, links) in our own directory before any user file is
 * touched. That directory acts as the work tree, so the target's own attributes apply.
 */

import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { makeDirectory, removeFile } from "../../base/fs/files.ts";
import { decodePath, onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { factsUnder, lineEndArguments, readConversionConfig } from "../../git/conversion/config-cache.ts";
import { type ConversionRules, nulSeparated } from "../../git/conversion/conversion.ts";
import { indexLine } from "../../git/index/entries.ts";
import type { ObjectReader } from "../../git/objects/reader.ts";
import { EXECUTABLE_MODE, SYMLINK_MODE, type TreeEntry, type TreeStore } from "../../git/objects/trees.ts";
import { readingEnvironment } from "../../git/private/store.ts";
import { git } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { LineEndSettings } from "../../model/step.ts";
import { RestoreError } from "../problems.ts";
import type { PlannedWrite } from "../types.ts";
import { attributesFor, rulesFor } from "./attributes.ts";
import { contentId } from "./content.ts";
import type { Journal } from "./journal.ts";
import type { FsPath } from "./move.ts";
import { writeBlob, writeUnfiltered } from "./stage-unfiltered.ts";

/** Overrides settings for the user's work tree and index that would interfere with our temporary ones. */
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

/** Writes `files` below `directory`, using the attributes of the tree `root`. */
export async function stage(
  workspace: Workspace,
  objects: Objects,
  root: string,
  files: readonly PlannedWrite[],
  directory: string,
  lineEnds?: LineEndSettings,
): Promise<void> {
  makeDirectory(directory);
  const byGit = files.filter(({ raw }) => raw === null);
  const command = [...lineEndArguments(lineEnds), "checkout-index"];
  if (byGit.length > 0) await checkOut(workspace, objects.trees, root, byGit, directory, command);
  for (const file of files)
    if (file.raw !== null) await writeExact(workspace, objects.reader, file, file.raw, directory);
  for (const { path } of files) requireWritten(onDisk(directory, path), path);
}

export interface StagingRules {
  /** The rules of the current files, if their .gitattributes files match those of the tree. */
  present?: ConversionRules | undefined;
  /** The line-ending settings of the files' state; the current ones if undefined. */
  lineEnds?: LineEndSettings | undefined;
}

/**
 * Stages the n-th file under the name n and returns each file's `contentId`. The target directories usually exist
 * already, and creating and removing staging directories would take several times as long as the rest.
 */
export async function stageNumbered(
  workspace: Workspace,
  objects: Objects,
  root: string,
  files: readonly PlannedWrite[],
  directory: string,
  { present, lineEnds }: StagingRules = {},
): Promise<string[]> {
  makeDirectory(directory);
  const numbers = new Map(files.map(({ path }, i) => [path, String(i)]));
  const place = (path: string) => join(directory, numbers.get(path) ?? "");
  const facts = factsUnder(await readConversionConfig(workspace), lineEnds);
  // If the work tree has the same attributes, there is no need to search the tree for them.
  const rules = present ? present.under(facts) : await rulesFor(workspace, objects, root, files, lineEnds);
  const kept = await writeUnfiltered(objects.reader, rules, files, place);
  const byGit = files.filter((file) => file.raw === null && file.entry.mode !== SYMLINK_MODE && !kept.has(file));
  // `checkout-index --temp` can't create links, so these are checked out under their own paths.
  const links: PlannedWrite[] = [];
  for (const file of files) {
    if (file.raw !== null || file.entry.mode !== SYMLINK_MODE) continue;
    const isReal = facts.symlinks || file.link === true;
    if (!isReal || !(await madeLink(objects.reader, file, place(file.path)))) links.push(file);
  }
  if (byGit.length > 0) {
    const command = [...lineEndArguments(lineEnds), "checkout-index", "--temp"];
    const said = await checkOut(workspace, objects.trees, root, byGit, directory, command);
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
    await stage(workspace, objects, root, links, beside, lineEnds);
    for (const { path } of links) renameSync(onDisk(beside, path), place(path));
    rmSync(beside, { recursive: true, force: true });
  }
  for (const file of files) {
    if (file.raw === null) continue;
    await writeBlob(workspace, objects.reader, place(file.path), file.entry, file.raw);
  }
  return files.map((file) => {
    // The id is known for files written here; files written by git are read back.
    const known = kept.has(file) ? file.entry.id : file.raw;
    return known ?? contentId(place(file.path), workspace.hash) ?? "";
  });
}

/** False if the link can't be created; git then tries and reports the error. */
async function madeLink(reader: ObjectReader, { entry }: PlannedWrite, place: string): Promise<boolean> {
  try {
    symlinkSync(await reader.require(entry.id, "blob"), place);
    return true;
  } catch {
    return false;
  }
}

/** Parses the output of `checkout-index --temp -z`: file name, tab, path. */
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
  throw new RestoreError("failed", { kind: "not-checked-out", path });
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
  const options = { cwd: directory, env: { GIT_INDEX_FILE: index, ...readingEnvironment(workspace) } };
  removeFile(index);
  try {
    await git([...args, "update-index", "-z", "--index-info"], { ...options, input: indexInfo(entries) });
    return await git([...args, ...command, "-z", "--stdin"], {
      ...options,
      input: nulSeparated(files.map(({ path }) => path)),
    });
  } catch (error) {
    throw new RestoreError("failed", { kind: "checkout-failed", reason: messageOf(error) });
  } finally {
    removeFile(index);
  }
}

function indexInfo(entries: ReadonlyMap<string, TreeEntry>): Buffer {
  return Buffer.concat([...entries].map(([path, entry]) => indexLine(path, entry)));
}

async function writeExact(
  workspace: Workspace,
  reader: ObjectReader,
  file: PlannedWrite,
  id: string,
  directory: string,
): Promise<void> {
  const place = onDisk(directory, file.path);
  mkdirSync(onDisk(directory, parentOf(file.path)), { recursive: true });
  await writeBlob(workspace, reader, place, file.entry, id);
}

export function stagingDirectory(restoreDirectory: string): string {
  return join(restoreDirectory, "files");
}

/** The staged path of a journal's n-th file. Version 1 journals stage files under their own paths. */
export function stagedPlace(restoreDirectory: string, journal: Pick<Journal, "v" | "files">, n: number): FsPath {
  const staged = stagingDirectory(restoreDirectory);
  if (journal.v !== 1) return join(staged, String(n));
  return onDisk(staged, journal.files.write[n]?.path ?? "");
}
