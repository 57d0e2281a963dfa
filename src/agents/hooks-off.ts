/** Settings by which a user turns all hooks of an agent off: ours are in place then, and nobody calls them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decode } from "../edit/edit.ts";
import { jsonc } from "../edit/jsonc.ts";
import { readToml } from "../edit/toml.ts";
import { entryOf, type Value } from "../edit/value.ts";

interface Switch {
  /** From the table at the top. */
  path: readonly string[];
  /** With this value hooks are off. */
  off: boolean;
  /** Beside the hooks' file, where the setting is not in that one. */
  file?: string;
}

const SWITCHES: Readonly<Record<string, Switch>> = {
  "claude-code": { path: ["disableAllHooks"], off: true },
  gemini: { path: ["hooksConfig", "enabled"], off: false },
  codex: { path: ["features", "hooks"], off: false, file: "config.toml" },
};

/** `files` are the agent's settings in every scope. */
export function hooksOff(agent: string, files: readonly string[]): { file: string; setting: string }[] {
  const found = Object.hasOwn(SWITCHES, agent) ? SWITCHES[agent] : undefined;
  if (!found) return [];
  const { path, off, file: beside } = found;
  const places = new Set(files.map((file) => (beside ? join(dirname(file), beside) : file)));
  return [...places].flatMap((file) => {
    const value = path.reduce<Value | undefined>((table, key) => entryOf(table, key), contentOf(file));
    return value === off ? [{ file, setting: `${path.join(".")} is ${off}` }] : [];
  });
}

/** Undefined where it can't be read: then it is told elsewhere. */
function contentOf(file: string): Value | undefined {
  try {
    if (!existsSync(file)) return undefined;
    const { text } = decode(readFileSync(file));
    return file.endsWith(".toml") ? readToml(text).value : jsonc.read(text);
  } catch {
    return undefined;
  }
}
