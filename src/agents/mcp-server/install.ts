/**
 * Puts our MCP server into an agent's settings and takes it out again, as the profile's `mcp` section describes. Uses
 * the same records and edits as hooks, with owners of its own, because both may be in one file.
 */
import { basename, join } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import { dataDirectory } from "../../base/paths.ts";
import { shownPath } from "../../base/text.ts";
import type { Edit } from "../../edit/edit.ts";
import { entryEdit, itemEdit } from "../../edit/entries.ts";
import { excludeEdit } from "../../edit/exclude.ts";
import type { Presence } from "../../edit/hook-entries.ts";
import { jsonc } from "../../edit/jsonc.ts";
import { type EditOwner, inspectEdit, installEdit, type Outcome, uninstallEdit } from "../../edit/record.ts";
import { tomlTablesEdit } from "../../edit/toml-tables.ts";
import type { Value } from "../../edit/value.ts";
import type { McpSection, Profile, Scope } from "../contract/profile.ts";
import {
  EXCLUDE_COMMENT,
  fileFor,
  gitPathOf,
  type InstallOptions,
  isTracked,
  needsExclude,
  repositoryRecords,
} from "../hooks/location.ts";

const SERVER = "backtrail";
const TOML_MARK = "backtrail enable --mcp";

export interface ServerReport {
  scope: Scope;
  files: Outcome[];
  /** Sentences for the user. */
  notes: string[];
}

export interface ServerInspection {
  scope: Scope;
  file: string;
  state: Presence;
  /** Why the file can't be used. */
  problem?: string;
}

/** Installs or updates the server's entry. Idempotent. */
export async function installServer(profile: Profile, asked: Scope, options: InstallOptions): Promise<ServerReport> {
  const section = sectionOf(profile);
  const { scope, notes } = await scopeFor(profile, section, asked, options);
  const file = serverFile(profile, section, scope, options);
  const files: Outcome[] = [];
  const exclude = scope === "local" ? await excludedPath(profile, file, options) : null;
  // Write the exclusion before the file, so that `git status` never shows the file.
  if (exclude !== null) files.push(await installEdit(...excludeOf(profile, exclude, options)));
  files.unshift(
    await installEdit(file, serverEdit(section, file, programFor(scope, options)), ownerOf(profile, scope, options)),
  );
  if (scope === "project")
    notes.push(`${profile.display_name}: colleagues without Backtrail see that the server "${SERVER}" does not start.`);
  return { scope, files, notes: [...notes, ...(await approve(profile, section, scope, options, files))] };
}

/** `scope` is the one that `installServer` reported. Call it before the hooks are removed: both may share a file. */
export async function uninstallServer(profile: Profile, scope: Scope, options: InstallOptions): Promise<Outcome[]> {
  const section = sectionOf(profile);
  const files: Outcome[] = [];
  if (section.approval && scope === "local") {
    const file = join(options.workspace.root, section.approval.path);
    files.push(
      await uninstallEdit(file, itemEdit(jsonc, section.approval.at, SERVER), approvalOwner(profile, options)),
    );
  }
  const file = serverFile(profile, section, scope, options);
  files.push(await uninstallEdit(file, serverEdit(section, file, null), ownerOf(profile, scope, options)));
  if (scope === "local" && options.workspace.kind === "repository" && !isHooksFile(profile, file, options))
    files.push(await uninstallEdit(...excludeOf(profile, gitPathOf(file, options), options)));
  return files.filter(({ action }) => action !== "unchanged");
}

/** Whether a scope's file has our server, and it is this executable. Changes nothing. */
export function inspectServer(profile: Profile, scope: Scope, options: InstallOptions): ServerInspection {
  const section = sectionOf(profile);
  const file = serverFile(profile, section, scope, options);
  const within = scope === "user" ? undefined : options.workspace.root;
  try {
    return { scope, file, state: inspectEdit(file, serverEdit(section, file, programFor(scope, options)), within) };
  } catch (error) {
    return { scope, file, state: "absent", problem: messageOf(error) };
  }
}

function sectionOf({ mcp, display_name: name }: Profile): McpSection {
  if (mcp) return mcp;
  throw new UserError("usage", `${name} can't start MCP servers, or Backtrail does not know how it is told to.`);
}

/** As for hooks: a tracked file is never written for one user alone. */
async function scopeFor(
  profile: Profile,
  { settings }: McpSection,
  asked: Scope,
  options: InstallOptions,
): Promise<{ scope: Scope; notes: string[] }> {
  if (asked === "user" || !settings[asked]) {
    const notes = asked === "user" ? [] : [`${profile.display_name} lists MCP servers only in your own file.`];
    return { scope: "user", notes };
  }
  if (asked === "project" || options.workspace.kind === "private") return { scope: asked, notes: [] };
  const file = fileFor(profile, asked, options, settings[asked]);
  const gitPath = gitPathOf(file, options);
  if (!(await isTracked(file, gitPath, options))) return { scope: asked, notes: [] };
  const note = `${shownPath(gitPath)} is tracked by git and was left alone: the MCP server is in your own file.`;
  return { scope: "user", notes: [note] };
}

function serverFile(profile: Profile, { settings }: McpSection, scope: Scope, options: InstallOptions): string {
  return fileFor(profile, scope, options, settings[scope]);
}

function programFor(scope: Scope, { executable }: InstallOptions): string {
  return scope === "project" ? SERVER : executable;
}

/** Without a program, the edit can only remove our entry. */
function serverEdit({ at, entry }: McpSection, file: string, program: string | null): Edit {
  const filled = program === null ? null : (fill(entry, program) as Record<string, Value>);
  if (!file.endsWith(".toml")) return entryEdit(jsonc, { path: [...at, SERVER], value: filled, isOurs });
  const table = [...at, SERVER];
  return tomlTablesEdit({
    mark: TOML_MARK,
    keys: Object.keys(entry),
    isOurs: (path) => path.join("\0") === table.join("\0"),
    wanted: filled && (() => Object.entries(filled).map(([key, value]) => ({ table, key, value: textsOf(value) }))),
  });
}

function textsOf(value: Value): string | string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}

function fill(value: Value, program: string): Value {
  if (Array.isArray(value)) return value.map((item) => fill(item, program));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, program)]));
  return value === "{executable}" ? program : value;
}

/** Our entry from any path and version: it starts a program named backtrail with the argument `mcp`. */
function isOurs(value: Value): boolean {
  const texts = stringsIn(value);
  return (
    texts.includes("mcp") && texts.some((text) => /^backtrail(?:\.exe)?$/i.test(basename(text.replaceAll("\\", "/"))))
  );
}

function stringsIn(value: Value): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** Only with the user's consent, and only for a file that is not shared. */
async function approve(
  profile: Profile,
  { approval, review }: McpSection,
  scope: Scope,
  options: InstallOptions,
  files: Outcome[],
): Promise<string[]> {
  if (scope === "user") return [];
  const notes = review === undefined ? [] : [`${profile.display_name}: ${review}`];
  if (!approval || scope !== "local") return notes;
  if (!options.trust)
    return [...notes, `${profile.display_name}: \`backtrail enable --mcp --trust\` answers that for you.`];
  const file = join(options.workspace.root, approval.path);
  files.push(await installEdit(file, itemEdit(jsonc, approval.at, SERVER), approvalOwner(profile, options)));
  return [
    `${profile.display_name}: the server counts as approved by you; that is written in ${shownPath(approval.path)}.`,
  ];
}

function ownerOf({ id }: Profile, scope: Scope, options: InstallOptions): EditOwner {
  const { root, storeDir } = options.workspace;
  const owner = `${id}/mcp`;
  if (scope === "user") return { records: join(dataDirectory(), "edits"), owner, holder: options.holder ?? storeDir };
  return { records: repositoryRecords(options), owner, holder: root, within: root };
}

function approvalOwner({ id }: Profile, options: InstallOptions): EditOwner {
  const { root } = options.workspace;
  return { records: repositoryRecords(options), owner: `${id}/mcp approval`, holder: root, within: root };
}

/** Null if git does not show the file anyway, or if the hooks' own exclusion covers it. */
async function excludedPath(profile: Profile, file: string, options: InstallOptions): Promise<string | null> {
  if (options.workspace.kind === "private" || isHooksFile(profile, file, options)) return null;
  const gitPath = gitPathOf(file, options);
  return (await needsExclude([gitPath], options)) ? gitPath : null;
}

function isHooksFile(profile: Profile, file: string, options: InstallOptions): boolean {
  return profile.hooks !== undefined && fileFor(profile, "local", options) === file;
}

function excludeOf({ id }: Profile, gitPath: string, options: InstallOptions): [string, Edit, EditOwner] {
  const { root, commonDir } = options.workspace;
  const keeping = { records: repositoryRecords(options), owner: `${id}/mcp`, holder: root };
  return [join(commonDir, "info", "exclude"), excludeEdit(EXCLUDE_COMMENT, gitPath), keeping];
}
