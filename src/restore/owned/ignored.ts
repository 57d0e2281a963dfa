/** Finds ignored files of one work tree, held by no step, that another work tree does not have identically. */

import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { pathsAtNul } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { contentId } from "../apply/content.ts";
import { ForkError } from "../fork/problems.ts";
import { workTreeView } from "../plan/work-tree.ts";

/** Larger ignored directories are not compared file by file. */
const MAX_COMPARED = 200;

export interface IgnoredFiles {
  /** Paths that the other work tree lacks or has with different content; directories end in a slash. */
  own: string[];
  /** All other files, with their content ids. */
  same: Map<string, string>;
  /** Every ignored path that git lists, without trailing slashes. */
  paths: string[];
}

export async function ignoredFiles(workspace: Workspace, other: string): Promise<IgnoredFiles> {
  const ask = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const { code, stdout, stderr } = await gitIn(workspace).try(ask);
  if (code !== 0) {
    const said = stderr.trim().split("\n").at(-1) ?? "";
    throw new ForkError("refused", { kind: "ignored-unknown", directory: workspace.root, reason: said });
  }
  const found: IgnoredFiles = { own: [], same: new Map(), paths: [] };
  for (const listed of pathsAtNul(stdout)) {
    const path = listed.replace(/\/$/, "");
    found.paths.push(path);
    const same = sameFiles(workspace, other, path);
    if (same === null) found.own.push(listed);
    else for (const [file, id] of same) found.same.set(file, id);
  }
  return found;
}

/** The files at a path with their content ids, if the other work tree has all of them identically; else null. */
function sameFiles(workspace: Workspace, other: string, path: string): [string, string][] | null {
  const { root, hash } = workspace;
  if (isLinkTo(onDisk(root, path), join(other, path))) return [[path, contentId(onDisk(root, path), hash) ?? ""]];
  const view = workTreeView(root);
  const isDirectory = view.at(path) === "directory";
  if (isDirectory && readdirSync(onDisk(root, path)).length > MAX_COMPARED) return null;
  const files = isDirectory ? view.below(path) : [path];
  if (!files || files.length > MAX_COMPARED) return null;
  const same: [string, string][] = [];
  for (const file of files) {
    if (!lstatSync(onDisk(root, file), { throwIfNoEntry: false })?.isFile()) return null;
    const id = contentId(onDisk(root, file), hash);
    if (id === undefined || contentId(onDisk(other, file), hash) !== id) return null;
    same.push([file, id]);
  }
  return same;
}

/** A fork's link to the same path in the other work tree: deleting it loses nothing. */
function isLinkTo(path: string | Buffer, target: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(path) === target;
}
