/** Where an agent's hooks go: the settings file for a scope, its record, and what keeps it out of `git status`. */
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { UserError } from "../../base/errors.ts";
import { dataDirectory, isInside } from "../../base/paths.ts";
import { shownPath } from "../../base/text.ts";
import type { Edit } from "../../edit/edit.ts";
import { excludeEdit } from "../../edit/exclude.ts";
import { type EditOwner, inspectEdit } from "../../edit/record.ts";
import { locate, realParent } from "../../edit/target.ts";
import { type GitOptions, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Agent } from "../contract/agent.ts";
import type { HooksSection, Profile, Scope, SettingsFile } from "../contract/profile.ts";
import { isOurCommand, type Program } from "./command.ts";
import type { HooksInPlace } from "./trust.ts";

export const EXCLUDE_COMMENT =
  "# Backtrail keeps its hooks out of `git status`; `backtrail disable` removes these two lines.";
const EXCLUDE_SCRIPTS = "# Backtrail keeps its hooks out of `git status`; `backtrail disable` removes these lines.";

/** The members of an agent that installing needs. */
export type Installable = Pick<Agent, "profile" | "hookFile" | "selfInstaller" | "trust">;

export interface InstallOptions {
  workspace: Pick<Workspace, "kind" | "root" | "commonDir" | "storeDir">;
  /** The absolute path that hooks call. */
  executable: string;
  /** Another program that the hooks call instead of ours. */
  host?: Program;
  /** The user's consent to run the hooks, for an agent that requires a review. */
  trust?: boolean;
  /** The holder of the edit in the user's settings file; this repository's store by default. */
  holder?: string;
  /** The user's home directory; $HOME by default. */
  home?: string;
  /** The environment with variables that move an agent's settings; the process's environment by default. */
  env?: Record<string, string | undefined>;
}

export interface HookLocation {
  scope: Scope;
  file: string;
  /** The path as git lists it; null if git does not apply. */
  gitPath: string | null;
  within?: string;
  /** Whether colleagues share the file. */
  isShared: boolean;
  notes: string[];
}

export async function placeFor(profile: Profile, asked: Scope, options: InstallOptions): Promise<HookLocation> {
  const { root, kind } = options.workspace;
  if (asked !== "user" && !settingsFor(hooksOf(profile), asked)?.path && hooksOf(profile).settings.user) {
    return userPlace(profile, options, `${profile.display_name} reads hooks only from`);
  }
  const file = fileFor(profile, asked, options);
  if (asked === "user") return { scope: "user", file, gitPath: null, isShared: false, notes: [] };
  const shared: HookLocation = {
    scope: asked,
    file,
    gitPath: null,
    within: root,
    isShared: asked === "project",
    notes: [],
  };
  if (asked === "project" || kind === "private") return shared;
  const gitPath = gitPathOf(file, options);
  if (!(await isTracked(file, gitPath, options))) return { ...shared, gitPath };
  return userPlace(profile, options, `${shownPath(gitPath)} is tracked by git and was left alone. The hooks are in`);
}

/** The user's own file, for hooks that can't be in the repository. */
function userPlace(profile: Profile, options: InstallOptions, why: string): HookLocation {
  const file = fileFor(profile, "user", options);
  const notes = [`${why} ${shownPath(file)}; they do nothing in repositories where Backtrail isn't enabled.`];
  return { scope: "user", file, gitPath: null, isShared: false, notes };
}

/** `settings`: the agent's file, if it is not the one with its hooks. */
export function fileFor(
  profile: Profile,
  scope: Scope,
  options: InstallOptions,
  settings: Pick<SettingsFile, "path" | "moved_by"> | undefined = settingsFor(hooksOf(profile), scope),
): string {
  const { root } = options.workspace;
  if (!settings?.path) {
    throw new UserError("usage", `${profile.display_name} has no settings file for the scope "${scope}".`);
  }
  const environment = options.env ?? process.env;
  const moved = settings.moved_by && environment[settings.moved_by.env];
  const home = options.home ?? (environment["HOME"] || homedir());
  const base = scope !== "user" ? root : settings.moved_by && moved ? resolve(root, moved) : home;
  const path = settings.moved_by && moved && scope === "user" ? settings.moved_by.path : settings.path;
  const file = join(base, path);
  if (isAbsolute(path) || !isInside(base, file)) {
    throw new UserError("refused", `The profile of ${profile.display_name} names a file outside ${shownPath(base)}.`);
  }
  return file;
}

/** An agent without a local settings file uses the project's, which works as well while git doesn't track it. */
export function settingsFor(hooks: HooksSection, scope: Scope): SettingsFile | undefined {
  return hooks.settings[scope] ?? (scope === "local" ? hooks.settings.project : undefined);
}

export function hooksOf(profile: Profile): HooksSection {
  if (profile.hooks) return profile.hooks;
  throw new UserError("usage", `${profile.display_name} has no hooks that could be installed.`);
}

export function inPlace(profile: Profile, scope: Scope, options: InstallOptions): HooksInPlace {
  return {
    file: fileFor(profile, scope, options),
    directory: dirname(fileFor(profile, profile.hooks?.settings.user ? "user" : scope, options)),
    root: scope === "user" ? null : options.workspace.root,
    env: options.env ?? process.env,
    isOurs: (command) => isOurCommand(command, profile.id, options.host),
  };
}

export function keepingFor(profile: Profile, scope: Scope, options: InstallOptions): EditOwner {
  const { root, storeDir } = options.workspace;
  // The user's settings file serves many repositories, so none of them can hold its record.
  if (scope === "user")
    return {
      records: join(dataDirectory(), "edits"),
      owner: ownerOf(profile, options),
      holder: options.holder ?? storeDir,
    };
  return { records: repositoryRecords(options), owner: ownerOf(profile, options), holder: root, within: root };
}

/** Hooks installed for another host have their own owner, because `enable` did not install them. */
function ownerOf({ id }: Profile, { host }: InstallOptions): string {
  return host === undefined ? id : `${host}/${id}`;
}

export function repositoryRecords(options: Pick<InstallOptions, "workspace">): string {
  return join(options.workspace.storeDir, "edits");
}

/** The edit that hides these paths from `git status`, and where it is made. */
export function excludeOf(
  profile: Profile,
  gitPaths: readonly string[],
  options: InstallOptions,
): [string, Edit, EditOwner] {
  const { root, commonDir } = options.workspace;
  const keeping = { records: repositoryRecords(options), owner: ownerOf(profile, options), holder: root };
  return [join(commonDir, "info", "exclude"), excludeFor(gitPaths), keeping];
}

function excludeFor(gitPaths: readonly string[]): Edit {
  return excludeEdit(gitPaths.length === 1 ? EXCLUDE_COMMENT : EXCLUDE_SCRIPTS, ...gitPaths);
}

/** Also true if only our own line hides the file, because another work tree may have added that line. */
export async function needsExclude(gitPaths: readonly string[], options: InstallOptions): Promise<boolean> {
  for (const path of gitPaths) if (!(await isIgnored(path, options))) return true;
  return inspectEdit(join(options.workspace.commonDir, "info", "exclude"), excludeFor(gitPaths)) === "installed";
}

/** git does not follow symbolic links to directories, so resolve them. */
export function gitPathOf(file: string, options: InstallOptions): string {
  const { root } = options.workspace;
  return relative(root, join(realParent(file).directory, basename(file)))
    .split(sep)
    .join("/");
}

export async function isTracked(file: string, gitPath: string, options: InstallOptions): Promise<boolean> {
  const { root } = options.workspace;
  // Hooks that are one script per event go into a directory.
  const isDirectory = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  const behind = relative(root, isDirectory ? realpathSync(file) : locate(file, root).real);
  const listed = await tryGit(["--literal-pathspecs", "ls-files", "-z", "--", gitPath, behind], gitOptions(options));
  return listed.code === 0 && listed.stdout.length > 0;
}

export async function isIgnored(gitPath: string, options: InstallOptions): Promise<boolean> {
  const result = await tryGit(["check-ignore", "--quiet", "--", gitPath], gitOptions(options));
  return result.code === 0;
}

/** What git ignores depends on the user's configuration, so pass the given home and variables to git. */
function gitOptions({ workspace, home, env }: InstallOptions): GitOptions {
  const given = Object.entries({ ...env, HOME: home }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { cwd: workspace.root, env: Object.fromEntries(given) };
}
