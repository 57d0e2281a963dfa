/** Changes one setting in one file and preserves the rest of the file. */

import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../base/errors.ts";
import { makeDirectory, removeFile, writeFileAtomic } from "../base/fs/files.ts";
import { refuseLinks } from "../base/fs/guarded-files.ts";
import { isRecord } from "../base/json.ts";
import { spellingsOf } from "./keys.ts";
import { ownFile, projectFile, readSettings, type SettingsLocation, userFile, workTreeFile } from "./load.ts";
import { ConfigError } from "./problems.ts";

export type WritableLayer = "user" | "project" | "local";

type Tree = Record<string, unknown>;

/** World-readable, like other files in a repository. */
const SHARED_MODE = 0o644;
const PRIVATE_MODE = 0o600;

/** Returns the file of a layer; `place` may be null for the user layer. */
export function fileOf(layer: WritableLayer, place: SettingsLocation | null): string {
  if (layer === "user") return throughLink(userFile());
  if (place === null) {
    throw new ConfigError("usage", { kind: "no-repository-for-setting" });
  }
  if (layer === "local") return ownFile(place);
  const file = projectFile(place.root);
  // A cloned repository may contain `.backtrail` as a symbolic link to another directory.
  refuseLinks(place.root, file);
  return file;
}

/** The settings file in the work tree that users may write by hand for one repository. */
export function handWrittenFile({ root }: SettingsLocation): string {
  const file = workTreeFile(root);
  refuseLinks(root, file);
  return file;
}

/** Returns whether the file changed. Another spelling of the same key goes, so that it can't win. */
export function setValue(file: string, layer: WritableLayer, key: string, value: unknown): boolean {
  const content = readTree(file);
  const others = spellingsOf(key).filter((name) => name !== key);
  const isRenamed = others.map((name) => removeAt(content, name.split("."))).includes(true);
  const parts = key.split(".");
  const last = parts.pop() ?? key;
  let node = content;
  for (const part of parts) {
    const found = Object.hasOwn(node, part) ? node[part] : undefined;
    const next: Tree = isRecord(found) ? found : {};
    node[part] = next;
    node = next;
  }
  if (!isRenamed && Object.hasOwn(node, last) && JSON.stringify(node[last]) === JSON.stringify(value)) return false;
  node[last] = value;
  write(file, layer, content);
  return true;
}

/** Removes the setting and any groups left empty; deletes the file if nothing is left. */
export function unsetValue(file: string, layer: WritableLayer, key: string): boolean {
  const content = readTree(file);
  if (
    !spellingsOf(key)
      .map((name) => removeAt(content, name.split(".")))
      .includes(true)
  )
    return false;
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
  if (!isRecord(next) || !removeAt(next, rest)) return false;
  if (Object.keys(next).length === 0) delete node[first];
  return true;
}

function readTree(file: string): Tree {
  let content: unknown;
  try {
    content = readSettings(file) ?? {};
  } catch (error) {
    throw new ConfigError("failed", { kind: "settings-unreadable", file, reason: messageOf(error) });
  }
  if (isRecord(content)) return content;
  throw new ConfigError("failed", { kind: "settings-not-an-object", file });
}

function write(file: string, layer: WritableLayer, content: Tree): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? (layer === "project" ? SHARED_MODE : PRIVATE_MODE);
  makeDirectory(dirname(file));
  writeFileAtomic(file, `${JSON.stringify(content, null, 2)}\n`, { mode: mode & 0o777, sync: true });
}

/** The user's file may be a symbolic link into a dotfiles directory: write the file that it points to. */
function throughLink(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
