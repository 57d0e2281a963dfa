/** The edits that install an agent's hooks, in each format of settings that a profile can name. */
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { type Edit, hooksEdit, scriptEdit, wholeFileEdit } from "../../edit/edit.ts";
import { claudeLayout, cursorLayout, geminiLayout, type HookEntry, namedLayout } from "../../edit/hook-layouts.ts";
import { jsonc } from "../../edit/jsonc.ts";
import { tomlHooksEdit } from "../../edit/toml-hooks.ts";
import type { Profile, Scope, SettingsFile } from "../contract/profile.ts";
import { holdsOurCommand, isOurCommand, localCommand, type Program, sharedCommand } from "./command.ts";
import { fileFor, hooksOf, type Installable, type InstallOptions, settingsFor } from "./location.ts";

/** The shell command of a hook, by its verb. */
type CommandFor = (verb: string) => string;

export interface FileEdit {
  file: string;
  edit: Edit;
}

const LAYOUTS = {
  "claude-settings": claudeLayout,
  "gemini-settings": geminiLayout,
  "cursor-hooks": cursorLayout,
  "named-hooks": namedLayout,
} as const;

export function commandFor({ id }: Profile, isShared: boolean, { executable, host }: InstallOptions): CommandFor {
  if (host !== undefined) return (verb) => sharedCommand(id, verb, host);
  return isShared ? (verb) => sharedCommand(id, verb) : (verb) => localCommand(executable, id, verb);
}

export function entriesFor(profile: Profile, command: CommandFor, host: Program = "backtrail"): HookEntry[] {
  return Object.entries(hooksOf(profile).install).map(([event, { verb, matcher, timeout }]) => ({
    event,
    command: command(verb),
    name: `${host}-${verb}`,
    matcher,
    timeout,
  }));
}

/** One edit for each file of the scope. Without `command`, the edits can only remove our entries. */
export function editsFor(
  agent: Installable,
  scope: Scope,
  command: CommandFor | null,
  options: InstallOptions,
): FileEdit[] {
  const { profile } = agent;
  const settings = settingsFor(hooksOf(profile), scope);
  const file = fileFor(profile, scope, options);
  if (settings?.format === "script-per-event") return scriptsFor(profile, settings, file, command, options);
  return [{ file, edit: editFor(agent, settings, command, options.host) }];
}

function scriptsFor(
  profile: Profile,
  { file: name = "{event}" }: Extract<SettingsFile, { format: "script-per-event" }>,
  directory: string,
  command: CommandFor | null,
  { host }: InstallOptions,
): FileEdit[] {
  return Object.entries(hooksOf(profile).install).map(([event, { verb }]) => {
    if (!/^[A-Za-z0-9_-]+$/.test(event)) {
      throw new UserError("refused", `The profile of ${profile.display_name} names a script that can't be written.`);
    }
    return {
      file: join(directory, name.replace("{event}", event)),
      edit: scriptEdit(command?.(verb) ?? null, (text) => isOurCommand(text, profile.id, host)),
    };
  });
}

function editFor(
  { profile, hookFile }: Installable,
  settings: SettingsFile | undefined,
  command: CommandFor | null,
  host: Program | undefined,
): Edit {
  const isOurs = (text: string) => isOurCommand(text, profile.id, host);
  const format = settings?.format ?? "claude-settings";
  if (format === "own-file") {
    if (command && !hookFile) {
      throw new UserError(
        "usage",
        `The profile of ${profile.display_name} doesn't say what its hook file contains.`,
        "Add hooks.template to the profile.",
      );
    }
    return wholeFileEdit(command && hookFile ? hookFile.content(command) : null, (text) =>
      holdsOurCommand(text, profile.id, host),
    );
  }
  const entries = command ? entriesFor(profile, command, host) : [];
  if (settings?.format === "toml-hooks") {
    const { table = "hooks", names = {} } = settings;
    return tomlHooksEdit({ table, names, entries, isOurs });
  }
  if (format === "none" || format === "toml-hooks" || format === "script-per-event") {
    throw new UserError("usage", `${profile.display_name} has no file that hooks could be written into.`);
  }
  return hooksEdit(jsonc, { layout: LAYOUTS[format], entries, isOurs });
}
