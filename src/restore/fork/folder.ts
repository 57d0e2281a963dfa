/**
 * Manages the plain directory of a fork of a folder without git, which shares the original folder's store. A mark in
 * the directory, with the fork's id and the directory's inode, proves that it is the fork and not a copy.
 */

import { lstatSync, mkdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, messageOf, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { readText, writeFileAtomic } from "../../base/fs/files.ts";
import { findWorkspace, privateStorePath, type Workspace } from "../../git/workspace.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { createMark, isMarked, removeUnmarked } from "../owned/mark.ts";
import { ForkError } from "./problems.ts";

/** Name of the mark in the fork's directory; the store ignores it. */
export const FOLDER_MARK = ".backtrail-fork";

export interface ForkFolder {
  directory: string;
  /** `replaced`: the path exists but lacks the mark. `unmarked`: created before marks were introduced. */
  state: "ours" | "missing" | "replaced" | "unmarked";
}

/** Creates an empty directory; a normal restore adds the files. */
export function addFolder(workspace: Workspace, record: ForkRecord): void {
  const { directory } = record;
  if (directory === null) return;
  try {
    mkdirSync(dirname(directory), { recursive: true });
    const link = linkOf(directory);
    claimLink(link, record, directory);
    ignoreMark(workspace);
    faultPoint("folder:link");
    makeOrTake(directory);
    faultPoint("folder:made");
    createMark(directory, FOLDER_MARK, record.id);
    faultPoint("folder:marked");
    writeFileAtomic(join(link, "commondir"), `${workspace.commonDir}\n`);
    // Written last: this registers the folder.
    writeFileAtomic(join(link, "HEAD"), `ref: refs/heads/fork-${basename(link, ".git")}\n`);
  } catch (error) {
    if (error instanceof UserError || codeOf(error) === undefined) throw error;
    throw new ForkError("failed", { kind: "fork-not-made", directory, reason: messageOf(error) });
  }
}

export function folderOf(record: ForkRecord): ForkFolder | undefined {
  const { directory } = record;
  if (record.kind !== "directory" || directory === null) return undefined;
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  if (!stat) return { directory, state: "missing" };
  if (!stat.isDirectory()) return { directory, state: "replaced" };
  if (isMarked(directory, FOLDER_MARK, record.id)) return { directory, state: "ours" };
  return { directory, state: record.marked ? "replaced" : "unmarked" };
}

export function forkedFolder(workspace: Workspace, record: ForkRecord): Workspace | undefined {
  const folder = folderOf(record);
  if (!folder || (folder.state !== "ours" && folder.state !== "unmarked")) return undefined;
  const found = findWorkspace(folder.directory);
  if (found?.kind !== "private" || found.commonDir !== workspace.commonDir) return undefined;
  return found.root === realpathSync(folder.directory) && found.gitDir !== found.commonDir ? found : undefined;
}

/** Deletes the store's link to the folder, but only if it was created for this fork. */
export function removeLink({ id, directory, marked }: ForkRecord): void {
  if (directory === null) return;
  const link = linkOf(directory);
  const owner = readText(join(link, "fork"))?.trim();
  // A link without a mark differs from a store in that its commondir points to another store.
  const isOurs = owner === id || (!marked && owner === undefined && readText(join(link, "commondir")) !== undefined);
  if (isOurs) rmSync(link, { recursive: true, force: true });
}

/** A killed creation may have left only an empty directory. */
export function removeEmptyFolder({ directory, id }: ForkRecord): void {
  if (directory === null || readText(join(linkOf(directory), "fork"))?.trim() !== id) return;
  removeUnmarked(directory, FOLDER_MARK, id);
}

/** Creates the link atomically. An existing store belongs to another folder, even a deleted one. */
function claimLink(link: string, { id }: ForkRecord, directory: string): void {
  if (readText(join(link, "fork"))?.trim() === id) return;
  const temporary = `${link}.${id}.tmp`;
  writeFileAtomic(join(temporary, "fork"), `${id}\n`);
  writeFileAtomic(join(temporary, "folder"), `${directory}\n`);
  try {
    if (lstatSync(link, { throwIfNoEntry: false })) throw taken(directory);
    renameSync(temporary, link);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST" ? taken(directory) : error;
  }
}

function taken(directory: string): ForkError {
  return new ForkError("refused", { kind: "directory-has-steps", directory });
}

/** Accepts an existing empty directory that the user named. */
function makeOrTake(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !lstatSync(directory).isDirectory()) throw error;
  }
}

function ignoreMark({ commonDir }: Workspace): void {
  const file = join(commonDir, "info", "exclude");
  const text = readText(file) ?? "";
  if (!text.split("\n").includes(`/${FOLDER_MARK}`))
    writeFileAtomic(file, `${text.replace(/\n?$/, "\n")}/${FOLDER_MARK}\n`);
}

/** Works for a deleted directory too. */
function linkOf(directory: string): string {
  const above = dirname(directory);
  const real = lstatSync(above, { throwIfNoEntry: false }) ? join(realpathSync(above), basename(directory)) : directory;
  return privateStorePath(real);
}
