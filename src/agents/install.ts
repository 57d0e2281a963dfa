/**
 * Our hooks in an agent's settings file: which file for which scope, which command, and how the file is kept out of
 * `git status`. The editing itself is edit/'s. Everything here answers with data and prints nothing.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { messageOf, UserError } from "../base/errors.ts";
import { dataDirectory, isInside } from "../base/paths.ts";
import { shownPath } from "../base/text.ts";
import { type Edit, hooksEdit, lineEdit, wholeFileEdit } from "../edit/edit.ts";
import type { Presence } from "../edit/hook-entries.ts";
import { claudeLayout, cursorLayout, geminiLayout, type HookEntry, type HookLayout } from "../edit/hook-layouts.ts";
import { jsonc } from "../edit/jsonc.ts";
import { addTo, foresee, isHeld, type Keeping, lookAt, type Outcome, recordsIn, removeFrom } from "../edit/record.ts";
import { locate, realParent } from "../edit/target.ts";
import { type GitOptions, tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Agent } from "./agent.ts";
import { holdsOurCommand, isOurCommand, localCommand, type Program, sharedCommand } from "./hook-command.ts";
import { inspectOwn, installOwn, uninstallOwn } from "./own-hooks.ts";
import type { HooksSection, Profile, Scope, SettingsFormat } from "./profile.ts";
import { type HooksInPlace, type Review, review, withdraw } from "./review.ts";

const EXCLUDE_COMMENT = "# Backtrail keeps its hooks out of `git status`; `backtrail disable` removes these two lines.";

const LAYOUTS: Readonly<Record<Exclude<SettingsFormat, "own-file">, HookLayout>> = {
  "claude-settings": claudeLayout,
  "gemini-settings": geminiLayout,
  "cursor-hooks": cursorLayout,
};

/** What installing needs to know of an agent. */
export type Installable = Pick<Agent, "profile" | "hookFile" | "ownHooks" | "trust">;

export interface InstallOptions {
  workspace: Pick<Workspace, "kind" | "root" | "commonDir" | "storeDir">;
  /** The absolute path by which hooks call us. */
  executable: string;
  /** Another program that the hooks call in place of ours. */
  host?: Program;
  /** The user's word that the hooks may run, where the agent wants them reviewed. */
  trust?: boolean;
  /** The user's home directory; $HOME where it isn't given. */
  home?: string;
  /** Read for variables that move an agent's settings; the process's own where it isn't given. */
  env?: Record<string, string | undefined>;
}

export interface InstallPlan {
  agent: string;
  /** What was asked for, and what it comes to: a tracked file is never written for one user alone. */
  asked: Scope;
  scope: Scope;
  file: string;
  /** What would happen to the file. */
  action: Outcome["action"];
  entries: HookEntry[];
  /** The file as git sees it, to be named in `info/exclude`; null where git needn't be told. */
  exclude: string | null;
  notes: string[];
}

export interface InstallReport {
  agent: string;
  scope: Scope;
  /** The settings file first, then others that had to change. */
  files: Outcome[];
  /** Sentences for the user. */
  notes: string[];
  /** The program that did it, where the agent has one for that. */
  by?: string;
  /** Why the user's word could not be written down, where it was to be. */
  unanswered?: Review["unanswered"];
}

export interface Inspection {
  scope: Scope;
  file: string;
  state: Presence;
  /** Why the file can't be used, where that is so. */
  problem?: string;
}

/** What `install` would do. Changes nothing; throws a UserError where it would. */
export async function planInstall(agent: Installable, asked: Scope, options: InstallOptions): Promise<InstallPlan> {
  const { profile } = agent;
  const place = await placeFor(profile, asked, options);
  const command = commandFor(profile, place.isShared, options);
  const entries = entriesFor(profile, command, options.host);
  const edit = editFor(agent, place.scope, command, options.host);
  const { action, linkTo } = foresee(place.file, edit, place.within);
  const notes = [...place.notes];
  if (linkTo !== undefined) {
    notes.push(`${shownPath(place.file)} is a symbolic link: the file behind it, ${shownPath(linkTo)}, is edited.`);
  }
  const exclude = place.gitPath !== null && (await needsExclude(place.gitPath, options)) ? place.gitPath : null;
  return { agent: profile.id, asked, scope: place.scope, file: place.file, action, entries, exclude, notes };
}

/** Puts the hooks in place, or brings them up to date. Doing it twice is doing it once. */
export async function install(agent: Installable, asked: Scope, options: InstallOptions): Promise<InstallReport> {
  const { profile } = agent;
  if (agent.ownHooks) return installOwn(profile, agent.ownHooks, asked, options);
  const plan = await planInstall(agent, asked, options);
  const files: Outcome[] = [];
  const notes = [...plan.notes, ...(await leaveOtherScopes(agent, plan, options))];
  // First the exclusion, then the file: at no moment does `git status` show it.
  if (plan.exclude !== null) files.push(await addTo(...excludeOf(profile, plan.exclude, options)));
  try {
    const edit = editFor(agent, plan.scope, commandFor(profile, plan.scope === "project", options), options.host);
    files.unshift(await addTo(plan.file, edit, keepingFor(profile, plan.scope, options)));
  } catch (error) {
    if (plan.exclude !== null && files[0]?.action !== "unchanged") {
      await removeFrom(...excludeOf(profile, plan.exclude, options));
    }
    throw error;
  }
  if (plan.exclude !== null && !(await isIgnored(plan.exclude, options))) {
    notes.push(`git still lists ${shownPath(plan.exclude)}: a rule in a .gitignore of the repository includes it.`);
  }
  const { unanswered, ...reviewed } = await review(
    agent,
    inPlace(profile, plan.scope, options),
    options.trust ?? false,
  );
  const report = { agent: profile.id, scope: plan.scope, files: [...files, ...reviewed.files] };
  return { ...report, notes: [...notes, ...reviewed.notes], ...(unanswered && { unanswered }) };
}

/** Takes the hooks out of the settings file of a scope (the scope that `install` reported, not the one asked for). */
export async function uninstall(agent: Installable, scope: Scope, options: InstallOptions): Promise<InstallReport> {
  const { profile } = agent;
  if (agent.ownHooks) return uninstallOwn(profile, agent.ownHooks, options);
  const file = fileFor(profile, scope, options);
  const settings = await removeFrom(
    file,
    editFor(agent, scope, null, options.host),
    keepingFor(profile, scope, options),
  );
  const files = [settings];
  const notes: string[] = [];
  if (settings.action === "kept") {
    notes.push(`The hooks in ${shownPath(file)} stay: other repositories use them.`);
  } else if (options.host === undefined) {
    files.push(...(await withdraw(agent, inPlace(profile, scope, options))));
  }
  if (scope === "local" && options.workspace.kind === "repository") {
    const exclude = await removeFrom(...excludeOf(profile, gitPathOf(file, options), options));
    if (exclude.action !== "unchanged") files.push(exclude);
  }
  return { agent: profile.id, scope, files, notes };
}

/** Whether the hooks are in the settings file of a scope, and call this executable. Changes nothing. */
export function inspect(agent: Installable, scope: Scope, options: InstallOptions): Inspection {
  const { profile } = agent;
  if (agent.ownHooks) return inspectOwn(agent.ownHooks, options);
  const file = fileFor(profile, scope, options);
  const within = scope === "user" ? undefined : options.workspace.root;
  try {
    const command = commandFor(profile, scope === "project", options);
    return { scope, file, state: lookAt(file, editFor(agent, scope, command, options.host), within) };
  } catch (error) {
    return { scope, file, state: "absent", problem: messageOf(error) };
  }
}

/** Every scope that the agent has a settings file for. */
export function inspectAll(agent: Installable, options: InstallOptions): Inspection[] {
  if (agent.ownHooks) return [inspectOwn(agent.ownHooks, options)];
  const hooks = hooksOf(agent.profile);
  const scopes = (["local", "project", "user"] as const).filter((scope) => settingsFor(hooks, scope) !== undefined);
  const inspections = scopes.map((scope) => inspect(agent, scope, options));
  return inspections.filter(({ file }, index) => inspections.findIndex((other) => other.file === file) === index);
}

/** The work trees of this repository that have hooks of their own: those that `uninstall` must be called for. */
export function installedRoots(profile: Profile, options: Pick<InstallOptions, "workspace">): string[] {
  const records = recordsIn(repositoryRecords(options)).filter((record) => record.owner === profile.id);
  return [...new Set(records.flatMap((record) => record.holders))].filter((root) => existsSync(root));
}

interface Place {
  scope: Scope;
  file: string;
  /** The path that git would list; null where git has no say. */
  gitPath: string | null;
  within?: string;
  /** Whether colleagues get the file as well. */
  isShared: boolean;
  notes: string[];
}

async function placeFor(profile: Profile, asked: Scope, options: InstallOptions): Promise<Place> {
  const { root, kind } = options.workspace;
  const file = fileFor(profile, asked, options);
  if (asked === "user") return { scope: "user", file, gitPath: null, isShared: false, notes: [] };
  const shared: Place = { scope: asked, file, gitPath: null, within: root, isShared: asked === "project", notes: [] };
  if (asked === "project" || kind === "private") return shared;
  const gitPath = gitPathOf(file, options);
  if (!(await isTracked(file, gitPath, options))) return { ...shared, gitPath };
  const userFile = fileFor(profile, "user", options);
  const notes = [
    `${shownPath(gitPath)} is tracked by git and was left alone. The hooks are in ${shownPath(userFile)}; ` +
      "they do nothing in repositories where Backtrail isn't enabled.",
  ];
  return { scope: "user", file: userFile, gitPath: null, isShared: false, notes };
}

function fileFor(profile: Profile, scope: Scope, options: InstallOptions): string {
  const { root } = options.workspace;
  const settings = settingsFor(hooksOf(profile), scope);
  if (!settings) {
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

/** An agent without a file for one user alone has the project's; while git doesn't track it, it is as good. */
function settingsFor(hooks: HooksSection, scope: Scope) {
  return hooks.settings[scope] ?? (scope === "local" ? hooks.settings.project : undefined);
}

function hooksOf(profile: Profile): HooksSection {
  if (profile.hooks) return profile.hooks;
  throw new UserError("usage", `${profile.display_name} has no hooks that could be installed.`);
}

type CommandFor = (verb: string) => string;

function commandFor({ id }: Profile, isShared: boolean, { executable, host }: InstallOptions): CommandFor {
  if (host !== undefined) return (verb) => sharedCommand(id, verb, host);
  return isShared ? (verb) => sharedCommand(id, verb) : (verb) => localCommand(executable, id, verb);
}

function entriesFor(profile: Profile, command: CommandFor, host: Program = "backtrail"): HookEntry[] {
  return Object.entries(hooksOf(profile).install).map(([event, { verb, matcher, timeout }]) => ({
    event,
    command: command(verb),
    name: `${host}-${verb}`,
    matcher,
    timeout,
  }));
}

/** Without `command`: only good for taking our entries out. */
function editFor(
  { profile, hookFile }: Installable,
  scope: Scope,
  command: CommandFor | null,
  host: Program | undefined,
): Edit {
  const format = settingsFor(hooksOf(profile), scope)?.format ?? "claude-settings";
  if (format === "own-file") {
    if (command && !hookFile) {
      throw new UserError("usage", `Nothing is known about how the hooks of ${profile.display_name} are written.`);
    }
    return wholeFileEdit(command && hookFile ? hookFile.content(command) : null, (text) =>
      holdsOurCommand(text, profile.id, host),
    );
  }
  const entries = command ? entriesFor(profile, command, host) : [];
  return hooksEdit(jsonc, { layout: LAYOUTS[format], entries, isOurs: (text) => isOurCommand(text, profile.id, host) });
}

function inPlace(profile: Profile, scope: Scope, options: InstallOptions): HooksInPlace {
  return {
    file: fileFor(profile, scope, options),
    directory: dirname(fileFor(profile, profile.hooks?.settings.user ? "user" : scope, options)),
    root: scope === "user" ? null : options.workspace.root,
    env: options.env ?? process.env,
    isOurs: (command) => isOurCommand(command, profile.id, options.host),
  };
}

function keepingFor(profile: Profile, scope: Scope, options: InstallOptions): Keeping {
  const { root, storeDir } = options.workspace;
  // The user's own file serves many repositories, so its record can't lie in one of them.
  if (scope === "user")
    return { records: join(dataDirectory(), "edits"), owner: ownerOf(profile, options), holder: storeDir };
  return { records: repositoryRecords(options), owner: ownerOf(profile, options), holder: root, within: root };
}

/** What is put in place for another host is no part of what `enable` did. */
function ownerOf({ id }: Profile, { host }: InstallOptions): string {
  return host === undefined ? id : `${host}/${id}`;
}

function repositoryRecords(options: Pick<InstallOptions, "workspace">): string {
  return join(options.workspace.storeDir, "edits");
}

function excludeOf(profile: Profile, gitPath: string, options: InstallOptions): [string, Edit, Keeping] {
  const { root, commonDir } = options.workspace;
  const keeping = { records: repositoryRecords(options), owner: ownerOf(profile, options), holder: root };
  return [join(commonDir, "info", "exclude"), excludeEdit(gitPath), keeping];
}

function excludeEdit(gitPath: string): Edit {
  const pattern = gitPath.replace(/[\\*?[\]]/g, "\\$&").replace(/ $/, "\\ ");
  return lineEdit(EXCLUDE_COMMENT, Buffer.from(`/${pattern}`, "utf8").toString("latin1"));
}

/** Needed, too, where only our own line keeps the file out of sight: another work tree may have put it there. */
async function needsExclude(gitPath: string, options: InstallOptions): Promise<boolean> {
  if (!(await isIgnored(gitPath, options))) return true;
  return lookAt(join(options.workspace.commonDir, "info", "exclude"), excludeEdit(gitPath)) === "installed";
}

/** git doesn't look through symbolic links to directories, so its path is the one behind them. */
function gitPathOf(file: string, options: InstallOptions): string {
  const { root } = options.workspace;
  return relative(root, join(realParent(file).directory, basename(file)))
    .split(sep)
    .join("/");
}

async function isTracked(file: string, gitPath: string, options: InstallOptions): Promise<boolean> {
  const { root } = options.workspace;
  const behind = relative(root, locate(file, root).real);
  const listed = await tryGit(["--literal-pathspecs", "ls-files", "-z", "--", gitPath, behind], gitOptions(options));
  return listed.code === 0 && listed.stdout.length > 0;
}

async function isIgnored(gitPath: string, options: InstallOptions): Promise<boolean> {
  const result = await tryGit(["check-ignore", "--quiet", "--", gitPath], gitOptions(options));
  return result.code === 0;
}

/** What git ignores depends on the user's own configuration, so git sees the home and the variables that we were given. */
function gitOptions({ workspace, home, env }: InstallOptions): GitOptions {
  const given = Object.entries({ ...env, HOME: home }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { cwd: workspace.root, env: Object.fromEntries(given) };
}

/** Hooks in two files would run twice. Those that this repository had put elsewhere before go; others are said. */
async function leaveOtherScopes(agent: Installable, plan: InstallPlan, options: InstallOptions): Promise<string[]> {
  const notes: string[] = [];
  for (const { scope, file, state } of inspectAll(agent, options)) {
    if (file === plan.file || state === "absent") continue;
    if (isHeld(file, keepingFor(agent.profile, scope, options))) {
      notes.push(...(await uninstall(agent, scope, options)).notes, `The hooks are no longer in ${shownPath(file)}.`);
    } else if (state === "outdated" || (scope === "project") !== (plan.scope === "project")) {
      notes.push(`Hooks of Backtrail are in ${shownPath(file)} as well, so each may run twice.`);
    }
  }
  return notes;
}
