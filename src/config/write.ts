/** Changing one setting in one file, leaving the rest of the file as it is. */
import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, messageOf, UserError } from "../base/errors.ts";
import { makeDirectory, removeFile, writeFileAtomic } from "../base/files.ts";
import { isInside } from "../base/paths.ts";
import { localFile, projectFile, readSettings, userFile } from "./load.ts";

export type WritableLayer = "user" | "project" | "local";

type Tree = Record<string, unknown>;

/** Readable by everybody, as files in a repository are. */
const SHARED_MODE = 0o644;
const PRIVATE_MODE = 0o600;

/** The layer's file; `root` may be null for the user's own. */
export function fileOf(layer: WritableLayer, root: string | null): string {
  if (layer === "user") return throughLink(userFile());
  if (root === null) {
    throw new UserError(
      "usage",
      "There is no repository here to keep a setting in.",
      "Give --user to set it everywhere.",
    );
  }
  const file = layer === "project" ? projectFile(root) : localFile(root);
  requireInside(root, file);
  return file;
}

/** Whether that changed anything. */
export function setValue(file: string, layer: WritableLayer, key: string, value: unknown): boolean {
  const content = readTree(file);
  const parts = key.split(".");
  const last = parts.pop() ?? key;
  let node = content;
  for (const part of parts) {
    const found = Object.hasOwn(node, part) ? node[part] : undefined;
    const next: Tree = isTree(found) ? found : {};
    node[part] = next;
    node = next;
  }
  if (Object.hasOwn(node, last) && JSON.stringify(node[last]) === JSON.stringify(value)) return false;
  node[last] = value;
  write(file, layer, content);
  return true;
}

/** Removes the setting and the groups that it leaves empty; a file left empty is removed. */
export function unsetValue(file: string, layer: WritableLayer, key: string): boolean {
  const content = readTree(file);
  if (!removeAt(content, key.split("."))) return false;
  if (Object.keys(content).length === 0) removeFile(file);
  else write(file, layer, content);
  return true;
}

function removeAt(node: Tree, parts: readonly string[]): boolean {
  const [first, ...rest] = parts;
  if (first === undefined || !Object.hasOwn(node, first)) return false;
  if (rest.length === 0) {
    delete node[first];
    return true;
  }
  const next = node[first];
  if (!isTree(next) || !removeAt(next, rest)) return false;
  if (Object.keys(next).length === 0) delete node[first];
  return true;
}

function readTree(file: string): Tree {
  let content: unknown;
  try {
    content = readSettings(file) ?? {};
  } catch (error) {
    throw new UserError("failed", `${file} cannot be read: ${messageOf(error)}`, "Put the file right, then try again.");
  }
  if (isTree(content)) return content;
  throw new UserError("failed", `${file} does not hold a JSON object.`, "Put the file right, then try again.");
}

function write(file: string, layer: WritableLayer, content: Tree): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? (layer === "project" ? SHARED_MODE : PRIVATE_MODE);
  makeDirectory(dirname(file));
  writeFileAtomic(file, `${JSON.stringify(content, null, 2)}\n`, { mode: mode & 0o777, sync: true });
}

/** The user's own file may be a link into a folder of dotfiles: then the file behind it is written. */
function throughLink(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** A repository may bring `.backtrail` as a link to somewhere else: nothing is written through it. */
function requireInside(root: string, file: string): void {
  for (const path of [dirname(file), file]) {
    try {
      if (!lstatSync(path).isSymbolicLink()) continue;
      if (isInside(join(realpathSync(root), ".backtrail"), realpathSync(path))) continue;
    } catch (error) {
      if (codeOf(error) === "ENOENT") continue;
      throw error;
    }
    throw new UserError(
      "refused",
      `${path} is a link to somewhere else, and is not written through.`,
      "Replace it by a file of its own.",
    );
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
