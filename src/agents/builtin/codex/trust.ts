/**
 * The user's answers to Codex's hook review, in its `config.toml`: a digest of each reviewed hook, and the folders with
 * trusted settings. Hooks that the user turned off or refused stay that way.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { shownPath } from "../../../base/text.ts";
import { jsonc } from "../../../edit/jsonc.ts";
import { readToml } from "../../../edit/toml.ts";
import { type TomlEntry, tomlTablesEdit } from "../../../edit/toml-tables.ts";
import { entryOf, isTable, type Table, type Value } from "../../../edit/value.ts";
import type { HookTrust, ReviewedHooks } from "../../contract/agent.ts";

const MARK = "backtrail enable --trust";
const DIGEST = "trusted_hash";
const LEVEL = "trust_level";
/** Codex's timeout for a hook without one, in seconds. */
const DEFAULT_TIMEOUT = 600;

export const codexTrust: HookTrust = {
  file: (directory) => join(directory, "config.toml"),

  edit(hooks) {
    const prefix = `${pathForCodex(hooks)}:`;
    const reviewed = hooks.text === null ? null : hooksIn(hooks, hooks.text);
    return tomlTablesEdit({
      mark: MARK,
      keys: [DIGEST, LEVEL],
      isOurs: ([first, second, third]) =>
        first === "projects" ? second === hooks.root : second === "state" && String(third).startsWith(prefix),
      wanted: reviewed && ((answers) => [...digests(reviewed, answers), ...folder(hooks.root, answers)]),
    });
  },

  granted(answers, { root }) {
    const { tables } = readToml(answers);
    const isOurs = tables.some(({ path, comment }) => path[1] === root && comment?.text === MARK);
    return root !== null && isOurs ? [`Codex trusts the folder ${shownPath(root)} now as well.`] : [];
  },

  refused(answers, hooks) {
    const { value } = readToml(answers);
    const refused: string[] = [];
    const level = levelOf(hooks.root, value);
    if (hooks.root !== null && level !== undefined && level !== "trusted") {
      const folder = shownPath(hooks.root);
      refused.push(`You told Codex not to trust ${folder}, so it still runs no hooks there.`);
    }
    const off = hooksIn(hooks, hooks.text ?? "").filter(({ key }) => isTurnedOff(value, key)).length;
    if (off > 0) refused.push(`You turned off ${off} of these hooks in Codex; they stay off.`);
    return refused;
  },
};

interface Hook {
  key: string;
  digest: string;
}

/** Our hooks, each with Codex's key for it: the file, the event, and the positions in its lists. */
function hooksIn(hooks: ReviewedHooks, text: string): Hook[] {
  const events = entryOf(jsonc.read(text.replace("\ufeff", "")), "hooks");
  if (!isTable(events)) return [];
  const file = pathForCodex(hooks);
  return Object.entries(events).flatMap(([event, groups]) =>
    listOf(groups).flatMap((group, place) =>
      listOf(entryOf(group, "hooks")).flatMap((hook, index): Hook[] => {
        const command = entryOf(hook, "command");
        if (typeof command !== "string" || !hooks.isOurs(command)) return [];
        const name = snakeCase(event);
        return [{ key: `${file}:${name}:${place}:${index}`, digest: digestOf(name, group, hook) }];
      }),
    ),
  );
}

/** Codex's digest of a hook: over JSON without whitespace and with sorted keys. */
function digestOf(event: string, group: Value, hook: Value): string {
  const matcher = entryOf(group, "matcher");
  const timeout = entryOf(hook, "timeout") ?? DEFAULT_TIMEOUT;
  const handler = { async: false, command: entryOf(hook, "command"), timeout, type: "command" };
  const identity = { event_name: event, hooks: [handler], ...(matcher === undefined ? {} : { matcher }) };
  return `sha256:${createHash("sha256").update(JSON.stringify(identity)).digest("hex")}`;
}

function digests(hooks: readonly Hook[], answers: Table): TomlEntry[] {
  return hooks
    .filter(({ key }) => !isTurnedOff(answers, key))
    .map(({ key, digest }) => ({ table: ["hooks", "state", key], key: DIGEST, value: digest }));
}

/** A folder's hooks run only if the folder itself is trusted. */
function folder(root: string | null, answers: Table): TomlEntry[] {
  if (root === null) return [];
  const level = levelOf(root, answers);
  if (level !== undefined && level !== "trusted") return [];
  return [{ table: ["projects", root], key: LEVEL, value: "trusted" }];
}

function levelOf(root: string | null, answers: Table): Value | undefined {
  return root === null ? undefined : entryOf(entryOf(entryOf(answers, "projects"), root), LEVEL);
}

function isTurnedOff(answers: Table, key: string): boolean {
  return entryOf(entryOf(entryOf(entryOf(answers, "hooks"), "state"), key), "enabled") === false;
}

/** Codex resolves symbolic links only if CODEX_HOME names its directory. */
function pathForCodex({ file, root, env }: ReviewedHooks): string {
  if (root !== null || !env["CODEX_HOME"]) return file;
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

function snakeCase(event: string): string {
  return event.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase();
}

function listOf(value: Value | undefined): Value[] {
  return Array.isArray(value) ? value : [];
}
