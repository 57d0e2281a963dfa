/** Detects settings that make an agent ignore installed hooks. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decode } from "../../edit/edit.ts";
import { jsonc } from "../../edit/jsonc.ts";
import { readToml } from "../../edit/toml.ts";
import { entryOf, type Value } from "../../edit/value.ts";
import type { Profile } from "../contract/profile.ts";

/** The settings that turn off all of the agent's hooks. `files` are the agent's settings files of all scopes. */
export function hooksOff({ hooks }: Profile, files: readonly string[]): { file: string; setting: string }[] {
  if (!hooks?.turned_off_by) return [];
  const { path, value: off, file: beside } = hooks.turned_off_by;
  const places = new Set(files.map((file) => (beside ? join(dirname(file), beside) : file)));
  return [...places].flatMap((file) => {
    const value = path.reduce<Value | undefined>((table, key) => entryOf(table, key), contentOf(file));
    return value === off ? [{ file, setting: `${path.join(".")} is ${off}` }] : [];
  });
}

/** Some agents skip every hook that their settings list by name. */
export function disabledByName({ hooks }: Profile, files: readonly string[], names: ReadonlySet<string>) {
  const path = hooks?.disabled_names;
  if (!path) return [];
  return [...new Set(files)].flatMap((file) => {
    const listed = path.reduce<Value | undefined>((table, key) => entryOf(table, key), contentOf(file));
    const ours = Array.isArray(listed) ? listed.filter((name) => typeof name === "string" && names.has(name)) : [];
    return ours.length > 0 ? [{ file, count: new Set(ours).size }] : [];
  });
}

/** Some agents read strict JSON, and ignore a whole file that contains a comment or a trailing comma. */
export function isIgnoredWhole({ hooks }: Profile, file: string): boolean {
  if (hooks?.strict_json !== true) return false;
  const text = textOf(file);
  if (text === undefined || contentOf(file) === undefined) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

/** Undefined if the file can't be read; other code reports that. */
function contentOf(file: string): Value | undefined {
  try {
    const text = textOf(file);
    if (text === undefined) return undefined;
    return file.endsWith(".toml") ? readToml(text).value : jsonc.read(text);
  } catch {
    return undefined;
  }
}

function textOf(file: string): string | undefined {
  try {
    return existsSync(file) ? decode(readFileSync(file)).text : undefined;
  } catch {
    return undefined;
  }
}
