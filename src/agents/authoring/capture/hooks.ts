/** Installs the hooks of a recording in the agent's settings, and removes them when it ends. */
import { join, relative, resolve, sep } from "node:path";
import { UserError } from "../../../base/errors.ts";
import { isInside } from "../../../base/paths.ts";
import { type Edit, hooksEdit, scriptEdit } from "../../../edit/edit.ts";
import { claudeLayout, cursorLayout, geminiLayout, namedLayout } from "../../../edit/hook-layouts.ts";
import { jsonc } from "../../../edit/jsonc.ts";
import { type EditOwner, installEdit, uninstallEdit } from "../../../edit/record.ts";
import { type TomlHookKeys, tomlHooksEdit } from "../../../edit/toml-hooks.ts";
import { isEventName } from "./capture.ts";
import type { InstalledHooks } from "./format.ts";
import type { HookFormat } from "./hook-formats.ts";

export interface HookRequest {
  /** The settings file, or the directory of scripts. */
  file: string;
  format: HookFormat;
  /** For TOML: the agent's names for the keys of a hook, where they differ. */
  names?: TomlHookKeys;
  events: readonly string[];
}

interface Where {
  id: string;
  home: string;
  cwd: string;
  /** The recording's directory, which keeps the record of the edits. */
  directory: string;
}

/** The shell command of a recording hook. It never fails, and does nothing once the recording has ended. */
export function recordingCommand(executable: string, id: string, event: string): string {
  if (!isEventName(event)) throw new UserError("usage", `"${event}" can't be an event's name.`);
  if (/\p{Cc}/u.test(executable)) throw new UserError("refused", "Hooks can't call a program with such a path.");
  const quoted = `"${executable.replace(/[\\"$`]/g, "\\$&")}"`;
  return `[ ! -x ${quoted} ] || ${quoted} hooks record ${id} ${event} || :`;
}

export async function installRecordingHooks(
  { file, format, names, events }: HookRequest,
  where: Where & { executable: string },
): Promise<InstalledHooks> {
  const { id, home, cwd, executable } = where;
  const path = resolve(cwd, file);
  const scope = isInside(cwd, path) ? "project" : "user";
  const base = scope === "project" ? cwd : home;
  if (!isInside(base, path)) {
    throw new UserError("refused", `${file} is neither in this directory nor in your home directory.`);
  }
  const hooks: InstalledHooks = {
    scope,
    path: relative(base, path).split(sep).join("/"),
    format,
    ...(names && { names }),
    events: [...events],
  };
  const command = (event: string) => recordingCommand(executable, id, event);
  for (const [target, edit] of editsFor(hooks, path, id, command)) await installEdit(target, edit, keeping(where));
  return hooks;
}

export async function removeRecordingHooks(hooks: InstalledHooks, where: Where): Promise<void> {
  const path = join(hooks.scope === "user" ? where.home : where.cwd, hooks.path);
  for (const [target, edit] of editsFor(hooks, path, where.id, null)) await uninstallEdit(target, edit, keeping(where));
}

function keeping({ id, directory }: Where): EditOwner {
  return { records: join(directory, "edits"), owner: `record/${id}`, holder: directory };
}

function editsFor(
  { format, names = {}, events }: InstalledHooks,
  path: string,
  id: string,
  command: ((event: string) => string) | null,
): [file: string, edit: Edit][] {
  const isOurs = (text: string) => text.includes(` hooks record ${id} `);
  if (format === "script-per-event") {
    return events.map((event) => [join(path, event), scriptEdit(command?.(event) ?? null, isOurs)]);
  }
  const entries = (command ? events : []).map((event) => ({
    event,
    command: command?.(event) ?? "",
    name: `backtrail-record-${event.toLowerCase()}`,
    matcher: undefined,
    timeout: undefined,
  }));
  if (format === "toml-hooks") return [[path, tomlHooksEdit({ table: "hooks", names, entries, isOurs })]];
  const layout = {
    "claude-settings": claudeLayout,
    "gemini-settings": geminiLayout,
    "cursor-hooks": cursorLayout,
    "named-hooks": namedLayout,
  }[format];
  return [[path, hooksEdit(jsonc, { layout, entries, isOurs })]];
}
