/** Puts our commands into an agent's directory of commands, one file each, and removes them again. */
import { join } from "node:path";
import { dataDirectory } from "../../base/paths.ts";
import { type Edit, wholeFileEdit } from "../../edit/edit.ts";
import { excludeEdit } from "../../edit/exclude.ts";
import { type EditOwner, installEdit, type Outcome, uninstallEdit } from "../../edit/record.ts";
import type { Profile, Scope } from "../contract/profile.ts";
import {
  EXCLUDE_COMMENT,
  fileFor,
  gitPathOf,
  type InstallOptions,
  needsExclude,
  repositoryRecords,
} from "../hooks/location.ts";
import { COMMANDS, contentOf, fileName, isOurs } from "./content.ts";

/** Idempotent. Returns the changed files, the commands' own first; nothing for an agent without commands. */
export async function installCommands(profile: Profile, scope: Scope, options: InstallOptions): Promise<Outcome[]> {
  const files: Outcome[] = [];
  for (const { file, name, content } of filesOf(profile, scope, options)) {
    if (scope === "local" && options.workspace.kind === "repository") {
      const gitPath = gitPathOf(file, options);
      if (await needsExclude([gitPath], options)) await installEdit(...excludeOf(profile, name, gitPath, options));
    }
    files.push(await installEdit(file, wholeFileEdit(content, isOurs), ownerOf(profile, name, scope, options)));
  }
  return files;
}

export async function uninstallCommands(profile: Profile, scope: Scope, options: InstallOptions): Promise<Outcome[]> {
  const files: Outcome[] = [];
  // The first file made the directory, so it goes last.
  for (const { file, name } of filesOf(profile, scope, options).toReversed()) {
    files.push(await uninstallEdit(file, wholeFileEdit(null, isOurs), ownerOf(profile, name, scope, options)));
    if (scope === "local" && options.workspace.kind === "repository")
      await uninstallEdit(...excludeOf(profile, name, gitPathOf(file, options), options));
  }
  return files.filter(({ action }) => action !== "unchanged");
}

interface CommandFile {
  name: string;
  file: string;
  content: string;
}

function filesOf(profile: Profile, scope: Scope, options: InstallOptions): CommandFile[] {
  const { commands } = profile;
  const directory = commands?.directories[scope];
  if (!commands || !directory) return [];
  return COMMANDS.map((command) => ({
    name: command.name,
    file: join(fileFor(profile, scope, options, directory), fileName(command, commands.format)),
    content: contentOf(command, commands.format),
  }));
}

function ownerOf({ id }: Profile, name: string, scope: Scope, options: InstallOptions): EditOwner {
  const { root, storeDir } = options.workspace;
  const owner = `${id}/command ${name}`;
  if (scope === "user") return { records: join(dataDirectory(), "edits"), owner, holder: options.holder ?? storeDir };
  return { records: repositoryRecords(options), owner, holder: root, within: root };
}

function excludeOf({ id }: Profile, name: string, gitPath: string, options: InstallOptions): [string, Edit, EditOwner] {
  const { root, commonDir } = options.workspace;
  const keeping = { records: repositoryRecords(options), owner: `${id}/command ${name}`, holder: root };
  return [join(commonDir, "info", "exclude"), excludeEdit(EXCLUDE_COMMENT, gitPath), keeping];
}
