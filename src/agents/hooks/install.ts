/**
 * Installs our hooks in an agent's settings, and removes them. Where they go is in location.ts, what is written in
 * edits.ts. Functions here return data and print nothing.
 */
import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import type { Presence } from "../../edit/hook-entries.ts";
import type { HookEntry } from "../../edit/hook-layouts.ts";
import {
  forgetEdit,
  inspectEdit,
  installEdit,
  isOwnedBy,
  type Outcome,
  previewEdit,
  recordsIn,
  uninstallEdit,
} from "../../edit/record.ts";
import type { SelfInstaller } from "../contract/agent.ts";
import type { Profile, Scope } from "../contract/profile.ts";
import type { Connection } from "./connection.ts";
import { commandFor, editsFor, entriesFor } from "./edits.ts";
import {
  excludeOf,
  fileFor,
  gitPathOf,
  hooksOf,
  type Installable,
  type InstallOptions,
  inPlace,
  isIgnored,
  keepingFor,
  needsExclude,
  placeFor,
  repositoryRecords,
  settingsFor,
} from "./location.ts";
import { inspectOwn, installOwn, isMadeForEntire, uninstallOwn } from "./self-installed.ts";
import { type Review, review, revokeTrust } from "./trust.ts";

export type { Installable, InstallOptions } from "./location.ts";

export interface InstallPlan {
  agent: string;
  /** The requested scope. `scope` may differ, because we never write to a tracked file for one user alone. */
  asked: Scope;
  scope: Scope;
  file: string;
  /** What would happen to the file. */
  action: Outcome["action"];
  entries: HookEntry[];
  /** The paths for `info/exclude`, as git sees them; empty if no exclusion is needed. */
  exclude: string[];
  notes: string[];
}

export interface InstallReport {
  agent: string;
  scope: Scope;
  /** The settings file first, then other changed files. */
  files: Outcome[];
  /** Sentences for the user. */
  notes: string[];
  /** The scope of the MCP server, if it was installed as well. */
  mcp?: Scope;
  /** The scope of the commands, if they were installed as well. */
  commands?: Scope;
  /** The program that installed the hooks, for an agent that installs its own. */
  by?: string;
  /** Nothing was installed: how its turns are recorded instead, and the commands that the user makes hooks. */
  instead?: { by: Exclude<Connection, "hooks" | "none">; commands: HookEntry[] };
  /** Why the user's consent could not be written. */
  unanswered?: Review["unanswered"];
}

export interface Inspection {
  scope: Scope;
  file: string;
  state: Presence;
  /** Why the file can't be used. */
  problem?: string;
}

/** What `install` would do. Changes nothing; throws a UserError if `install` would. */
export async function planInstall(agent: Installable, asked: Scope, options: InstallOptions): Promise<InstallPlan> {
  const { profile } = agent;
  const place = await placeFor(profile, asked, options);
  const command = commandFor(profile, place.isShared, options);
  const entries = entriesFor(profile, command, options.host);
  const edits = editsFor(agent, place.scope, command, options);
  const previews = edits.map(({ file, edit }) => previewEdit(file, edit, place.within));
  const notes = [...place.notes];
  for (const { file, linkTo } of previews) {
    if (linkTo === undefined) continue;
    notes.push(`${shownPath(file)} is a symbolic link: the file behind it, ${shownPath(linkTo)}, is edited.`);
  }
  const action = previews.map((preview) => preview.action).find((each) => each !== "unchanged") ?? "unchanged";
  const paths = place.gitPath === null ? [] : edits.map(({ file }) => gitPathOf(file, options));
  const exclude = paths.length > 0 && (await needsExclude(paths, options)) ? paths : [];
  return { agent: profile.id, asked, scope: place.scope, file: place.file, action, entries, exclude, notes };
}

/** Installs or updates the hooks. Idempotent. */
export async function install(agent: Installable, asked: Scope, options: InstallOptions): Promise<InstallReport> {
  const { profile } = agent;
  if (agent.selfInstaller) {
    const report = installOwn(profile, agent.selfInstaller, asked, options);
    const rawFiles = rawFilesOf(agent.selfInstaller, options);
    return rawFiles === null
      ? report
      : { ...report, files: [await installEdit(...excludeOf(profile, [rawFiles], options))] };
  }
  const plan = await planInstall(agent, asked, options);
  const files: Outcome[] = [];
  const notes = [...plan.notes, ...(await leaveOtherScopes(agent, plan, options))];
  // Write the exclusion before the file, so that `git status` never shows the file.
  const { exclude } = plan;
  if (exclude.length > 0) files.push(await installEdit(...excludeOf(profile, exclude, options)));
  try {
    const command = commandFor(profile, plan.scope === "project", options);
    const keeping = keepingFor(profile, plan.scope, options);
    const written: Outcome[] = [];
    for (const { file, edit } of editsFor(agent, plan.scope, command, options)) {
      written.push(await installEdit(file, edit, keeping));
    }
    files.unshift(...written);
  } catch (error) {
    if (exclude.length > 0 && files[0]?.action !== "unchanged") {
      await uninstallEdit(...excludeOf(profile, exclude, options));
    }
    throw error;
  }
  for (const path of exclude) {
    if (await isIgnored(path, options)) continue;
    notes.push(`git still lists ${shownPath(path)}: a rule in a .gitignore of the repository includes it.`);
  }
  const { unanswered, ...reviewed } = await review(
    agent,
    inPlace(profile, plan.scope, options),
    options.trust ?? false,
  );
  const report = { agent: profile.id, scope: plan.scope, files: [...files, ...reviewed.files] };
  return { ...report, notes: [...notes, ...reviewed.notes], ...(unanswered && { unanswered }) };
}

/**
 * Removes the hooks from a scope's settings file. `scope` is the one that `install` reported, not the requested one.
 */
export async function uninstall(agent: Installable, scope: Scope, options: InstallOptions): Promise<InstallReport> {
  const { profile } = agent;
  if (agent.selfInstaller) {
    const report = uninstallOwn(profile, agent.selfInstaller, options);
    const rawFiles = rawFilesOf(agent.selfInstaller, options);
    const exclude = rawFiles === null ? null : await uninstallEdit(...excludeOf(profile, [rawFiles], options));
    return { ...report, files: exclude && exclude.action !== "unchanged" ? [exclude] : [] };
  }
  const file = fileFor(profile, scope, options);
  const edits = editsFor(agent, scope, null, options);
  const files: Outcome[] = [];
  // The first file made the directories, so it goes last.
  for (const each of edits.toReversed()) {
    files.push(await uninstallEdit(each.file, each.edit, keepingFor(profile, scope, options)));
  }
  const notes: string[] = [];
  if (files.some(({ action }) => action === "kept")) {
    notes.push(`The hooks in ${shownPath(file)} stay: other repositories use them.`);
  } else if (options.host === undefined) {
    files.push(...(await revokeTrust(agent, inPlace(profile, scope, options))));
  }
  if (scope === "local" && options.workspace.kind === "repository") {
    const paths = edits.map((each) => gitPathOf(each.file, options));
    const exclude = await uninstallEdit(...excludeOf(profile, paths, options));
    if (exclude.action !== "unchanged") files.push(exclude);
  }
  return { agent: profile.id, scope, files, notes };
}

/** For a deleted work tree: deletes the edit records of its settings file without touching the file. */
export async function forgetInstalled(agent: Installable, options: InstallOptions): Promise<void> {
  const { profile } = agent;
  if (!settingsFor(hooksOf(profile), "local")?.path) return;
  const edits = editsFor(agent, "local", null, options);
  for (const { file } of edits) forgetEdit(file, keepingFor(profile, "local", options));
  if (options.host === undefined) await revokeTrust(agent, inPlace(profile, "local", options));
  if (options.workspace.kind !== "repository") return;
  const paths = edits.map(({ file }) => gitPathOf(file, options));
  await uninstallEdit(...excludeOf(profile, paths, options));
}

/** Whether a scope's settings file contains the hooks, and they call this executable. Changes nothing. */
export function inspect(agent: Installable, scope: Scope, options: InstallOptions): Inspection {
  const { profile } = agent;
  if (agent.selfInstaller) return inspectOwn(agent.selfInstaller, options);
  const file = fileFor(profile, scope, options);
  const within = scope === "user" ? undefined : options.workspace.root;
  try {
    const command = commandFor(profile, scope === "project", options);
    const states = editsFor(agent, scope, command, options).map((each) => inspectEdit(each.file, each.edit, within));
    return { scope, file, state: together(states) };
  } catch (error) {
    return { scope, file, state: "absent", problem: messageOf(error) };
  }
}

function together(states: readonly Presence[]): Presence {
  const [first = "absent", ...others] = states;
  return others.every((state) => state === first) ? first : "outdated";
}

/** Inspects every scope that the agent has a settings file for. */
export function inspectAll(agent: Installable, options: InstallOptions): Inspection[] {
  if (agent.selfInstaller) return [inspectOwn(agent.selfInstaller, options)];
  const hooks = hooksOf(agent.profile);
  const scopes = (["local", "project", "user"] as const).filter(
    (scope) => settingsFor(hooks, scope)?.path !== undefined,
  );
  const inspections = scopes.map((scope) => inspect(agent, scope, options));
  return inspections.filter(({ file }, index) => inspections.findIndex((other) => other.file === file) === index);
}

/** The work trees of this repository with their own hooks. Call `uninstall` for each of them. */
export function installedRoots(profile: Profile, options: Pick<InstallOptions, "workspace">): string[] {
  const records = recordsIn(repositoryRecords(options)).filter((record) => record.owner === profile.id);
  return [...new Set(records.flatMap((record) => record.holders))].filter((root) => existsSync(root));
}

/** Agents made for Entire keep raw transcripts in this directory, which must not get into steps and commits. */
function rawFilesOf(hooks: SelfInstaller, { workspace }: InstallOptions): string | null {
  return workspace.kind === "repository" && isMadeForEntire(hooks) ? ".entire/tmp/" : null;
}

/** Hooks in two files would run twice. Removes those that this repository installed elsewhere; reports others. */
async function leaveOtherScopes(agent: Installable, plan: InstallPlan, options: InstallOptions): Promise<string[]> {
  const notes: string[] = [];
  for (const { scope, file, state } of inspectAll(agent, options)) {
    if (file === plan.file || state === "absent") continue;
    const [first] = editsFor(agent, scope, null, options);
    if (isOwnedBy(first?.file ?? file, keepingFor(agent.profile, scope, options))) {
      notes.push(...(await uninstall(agent, scope, options)).notes, `The hooks are no longer in ${shownPath(file)}.`);
    } else if (state === "outdated" || (scope === "project") !== (plan.scope === "project")) {
      notes.push(`Hooks of Backtrail are in ${shownPath(file)} as well; each event is recorded once.`);
    }
  }
  return notes;
}
