/**
 * Our hooks in a repository: put in place beside whatever manages hooks there, and taken out again so that every byte is as
 * before. A directory that git tracks or that other repositories share is never written into: one of ours stands before it.
 */
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { codeOf, UserError } from "../base/errors.ts";
import { makeDirectory, readJson, readText, removeFile, writeFileAtomic, writeJson } from "../base/files.ts";
import { acquire } from "../base/lock.ts";
import { isInside } from "../base/paths.ts";
import { git, tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { GIT_HOOKS, isOurScript, KEPT_SUFFIX, OTHER_HOOKS, passingScript, scriptFor } from "./hook-scripts.ts";

/** git-hooks.json in the store: what was done, so that it can be undone. */
interface HooksRecord {
  v: 1;
  executable: string;
  places: HooksPlace[];
  /** Where `core.hooksPath` was pointed at a directory of ours. */
  override?: HooksOverride;
}

interface HooksPlace {
  directory: string;
  /** The directory itself is ours. */
  made: boolean;
}

interface HooksOverride {
  /** The local setting before; null where there was none. */
  before: string | null;
  /** The configuration file before, and a digest of what it became: unchanged since, it gets its bytes back. */
  content: string;
  became: string;
  /** Where the user's hooks are: absolute, or from the work tree's root. */
  original: string;
}

export interface HooksReport {
  installed: boolean;
  notes: string[];
}

const LOCK_WAIT_MS = 5_000;
const NOTHING: HooksReport = { installed: false, notes: [] };

/** Safe to repeat: what another tool has overwritten since is put right. */
export async function installGitHooks(workspace: Workspace, executable: string): Promise<HooksReport> {
  if (workspace.kind === "private") return NOTHING;
  return alone(workspace, () => install(workspace, executable));
}

/** As it was before; sentences about what could not be put back. */
export async function removeGitHooks(workspace: Workspace): Promise<string[]> {
  return alone(workspace, () => remove(workspace));
}

/** Puts back what another tool has overwritten (a package manager's install does); where hooks are not in, nothing. */
export async function repairGitHooks(workspace: Workspace): Promise<void> {
  if (!readRecord(workspace)) return;
  await alone(workspace, async () => {
    // Recording may have been turned off while the lock was waited for.
    const record = readRecord(workspace);
    if (record) await install(workspace, record.executable);
  });
}

export interface GitHooksFound {
  /** `missing`: some of ours are gone; `shadowed`: git looks elsewhere; `off`: git runs none at all. */
  state: "installed" | "absent" | "off" | "outdated" | "shadowed" | "missing";
  /** The directory that git takes its hooks from. */
  place: string;
  /** What manages hooks here beside us. */
  manager: string | null;
  /** The hooks that are gone. */
  which: string[];
}

/** Changes nothing. */
export async function inspectGitHooks(workspace: Workspace, executable: string): Promise<GitHooksFound> {
  const named = await hooksDirectory(workspace);
  const place = resolve(workspace.root, named);
  const record = readRecord(workspace);
  const found = { place, manager: hookManager(workspace), which: [] };
  if (named === "/dev/null") return { ...found, state: "off" };
  if (!record) return { ...found, state: "absent" };
  const isOurs =
    place === ownDirectory(workspace)
      ? record.override
      : placesOf(workspace, record).some((one) => one.directory === place);
  if (!isOurs) return { ...found, state: "shadowed" };
  const which = GIT_HOOKS.filter((hook) => !isOurScript(contentAt(join(place, hook)) ?? ""));
  if (which.length > 0) return { ...found, state: "missing", which };
  return { ...found, state: record.executable === executable ? "installed" : "outdated" };
}

const MANAGERS: readonly (readonly [name: string, signs: readonly string[]])[] = [
  ["husky", [".husky", ".huskyrc", ".huskyrc.json"]],
  ["lefthook", ["lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook.toml", "lefthook.json"]],
  ["pre-commit", [".pre-commit-config.yaml"]],
  ["overcommit", [".overcommit.yml"]],
];

function hookManager({ root }: Workspace): string | null {
  return MANAGERS.find(([, signs]) => signs.some((sign) => existsSync(join(root, sign))))?.[0] ?? null;
}

async function alone<T>(workspace: Workspace, change: () => Promise<T>): Promise<T> {
  const lock = await acquire(join(workspace.storeDir, "git-hooks.lock"), LOCK_WAIT_MS);
  if (!lock) throw new UserError("failed", "Another process is changing git's hooks here.", "Try again in a moment.");
  try {
    return await change();
  } finally {
    lock.release();
  }
}

async function install(workspace: Workspace, executable: string): Promise<HooksReport> {
  const record = readRecord(workspace) ?? { v: 1, executable, places: [] };
  record.executable = executable;
  const named = await hooksDirectory(workspace);
  const own = ownDirectory(workspace);
  if (named === "/dev/null") {
    return {
      installed: false,
      notes: ["git runs no hooks here (core.hooksPath is /dev/null): commits are not linked."],
    };
  }
  const directory = resolve(workspace.root, named);
  if (directory === own && record.override) {
    writeOwnDirectory(workspace, executable, record.override.original);
    return { installed: true, notes: [] };
  }
  if (record.override && wasOwnDirectory(directory)) {
    await followMove(workspace, record, record.override);
    return { installed: true, notes: [] };
  }
  if (await mayWriteInto(workspace, directory)) {
    const made = !existsSync(directory);
    if (!record.places.some((place) => place.directory === directory)) record.places.push({ directory, made });
    writeRecord(workspace, record);
    makeHooksDirectory(directory);
    const isDefault = directory === join(workspace.commonDir, "hooks");
    for (const hook of GIT_HOOKS) placeScript(workspace, directory, hook, executable, isDefault);
    return { installed: true, notes: [] };
  }
  writeOwnDirectory(workspace, executable, named.includes("/") ? named : `./${named}`);
  await pointAtOwn(workspace, record, named);
  return {
    installed: true,
    notes: [`The hooks in ${named} are left alone: core.hooksPath points to ours, which call them first.`],
  };
}

async function remove(workspace: Workspace): Promise<string[]> {
  const record = readRecord(workspace);
  if (!record) return [];
  const notes: string[] = [];
  if (record.override) await pointBack(workspace, record.override);
  for (const name of namesIn(ownDirectory(workspace))) removeFile(join(ownDirectory(workspace), name));
  removeDirectory(ownDirectory(workspace));
  for (const place of placesOf(workspace, record)) {
    for (const hook of GIT_HOOKS) {
      if (!takeScriptOut(place.directory, hook))
        notes.push(`${join(place.directory, hook)} is no longer ours and was left.`);
    }
    if (place.made) removeDirectory(place.directory);
  }
  removeFile(recordFile(workspace));
  return notes;
}

function placeScript(
  { storeDir }: Workspace,
  directory: string,
  hook: (typeof GIT_HOOKS)[number],
  executable: string,
  isDefault: boolean,
): void {
  const path = join(directory, hook);
  const kept = `${path}${KEPT_SUFFIX}`;
  const present = contentAt(path);
  if (present !== undefined && !isOurScript(present)) {
    // Somebody put a newer one in our place: that one counts, and the older is not lost.
    const older = contentAt(kept);
    if (older !== undefined && older !== present) setAside(older, join(storeDir, "replaced-hooks"), hook);
    renameSync(path, kept);
  }
  removeRenamed(path);
  const before = exists(kept) ? (contentAt(kept) ?? "") : undefined;
  const earlier =
    before === undefined
      ? null
      : ({ path: `${hook}${KEPT_SUFFIX}`, how: looksAtItsName(before) ? "source" : "run" } as const);
  writeScript(path, scriptFor(hook, { executable, storeDir: isDefault ? null : storeDir, earlier }));
}

/** lefthook renames what it finds in its place, and stumbles over a second one of that name. */
function removeRenamed(path: string): void {
  const renamed = `${path}.old`;
  if (isOurScript(contentAt(renamed) ?? "")) removeFile(renamed);
}

function setAside(content: string, directory: string, hook: string): void {
  const name = `${hook}.${hexDigest("sha256", content).slice(0, 8)}`;
  writeFileAtomic(join(directory, name), Buffer.from(content, "latin1"), { mode: 0o700 });
}

/** A shell script that goes by its own name or place must keep both: it is read by our shell, not run. */
function looksAtItsName(script: string): boolean {
  return /^#!\s*(?:\/usr)?\/bin\/(?:env\s+)?sh\b/.test(script) && /\$\{?0\b/.test(script);
}

/** False where something else stands in our place. */
function takeScriptOut(directory: string, hook: string): boolean {
  const path = join(directory, hook);
  const kept = `${path}${KEPT_SUFFIX}`;
  const present = contentAt(path);
  removeRenamed(path);
  if (present !== undefined && !isOurScript(present)) return !exists(kept);
  if (exists(kept)) renameSync(kept, path);
  else removeFile(path);
  return true;
}

function writeOwnDirectory(workspace: Workspace, executable: string, original: string): void {
  const own = ownDirectory(workspace);
  makeDirectory(own);
  const others = namesIn(resolve(workspace.root, original)).filter((name) => /^[a-z][a-z0-9-]+$/.test(name));
  const ours: readonly string[] = GIT_HOOKS;
  for (const hook of new Set([...OTHER_HOOKS, ...others])) {
    if (!ours.includes(hook)) writeScript(join(own, hook), passingScript(`${original}/${hook}`));
  }
  for (const hook of GIT_HOOKS) {
    const earlier = { path: `${original}/${hook}`, how: "run" } as const;
    writeScript(join(own, hook), scriptFor(hook, { executable, storeDir: workspace.storeDir, earlier }));
  }
}

async function pointAtOwn(workspace: Workspace, record: HooksRecord, original: string): Promise<void> {
  const config = join(workspace.commonDir, "config");
  const local = await tryGit(["config", "--local", "--get", "core.hooksPath"], { cwd: workspace.root });
  const before = local.code === 0 ? local.stdout.toString("utf8").replace(/\n$/, "") : null;
  const content = readFileSync(config).toString("base64");
  const path = original.includes("/") ? original : `./${original}`;
  // Written down first: killed in between, `disable` sets what was there before.
  record.override = { before, content, became: "", original: path };
  writeRecord(workspace, record);
  await git(["config", "--local", "core.hooksPath", ownDirectory(workspace)], { cwd: workspace.root });
  record.override.became = hexDigest("sha256", readFileSync(config));
  writeRecord(workspace, record);
}

/** The repository has moved, or is a copy, and its configuration names our directory where that was. */
async function followMove(workspace: Workspace, record: HooksRecord, override: HooksOverride): Promise<void> {
  const config = join(workspace.commonDir, "config");
  const isUnchanged = hexDigest("sha256", readFileSync(config)) === override.became;
  writeOwnDirectory(workspace, record.executable, override.original);
  await git(["config", "--local", "core.hooksPath", ownDirectory(workspace)], { cwd: workspace.root });
  override.became = isUnchanged ? hexDigest("sha256", readFileSync(config)) : "";
  writeRecord(workspace, record);
}

async function pointBack(workspace: Workspace, override: HooksOverride): Promise<void> {
  const config = join(workspace.commonDir, "config");
  const present = readFileSync(config);
  if (hexDigest("sha256", present) === override.became) {
    writeFileAtomic(config, Buffer.from(override.content, "base64"), { mode: lstatSync(config).mode & 0o777 });
    return;
  }
  const options = { cwd: workspace.root };
  const now = await tryGit(["config", "--local", "--get", "core.hooksPath"], options);
  // Somebody has pointed it elsewhere since.
  if (!wasOwnDirectory(now.stdout.toString("utf8").trim())) return;
  if (override.before === null) await tryGit(["config", "--local", "--unset", "core.hooksPath"], options);
  else await git(["config", "--local", "core.hooksPath", override.before], options);
}

/** As git itself names it: absolute, or from the work tree's root. */
async function hooksDirectory(workspace: Workspace): Promise<string> {
  const said = await git(["rev-parse", "--git-path", "hooks"], { cwd: workspace.root });
  return said.toString("utf8").replace(/\n$/, "");
}

/** Not into files that colleagues get, nor into a directory that serves other repositories. */
async function mayWriteInto(workspace: Workspace, directory: string): Promise<boolean> {
  if (isInside(workspace.commonDir, directory) || isInside(workspace.gitDir, directory)) return true;
  if (!isInside(workspace.root, directory)) return false;
  const script = relative(workspace.root, join(directory, GIT_HOOKS[0]));
  const ignored = await tryGit(["check-ignore", "--quiet", "--", script], { cwd: workspace.root });
  return ignored.code === 0;
}

function writeScript(path: string, content: string): void {
  if (contentAt(path) === content && (lstatSync(path).mode & 0o111) !== 0) return;
  writeFileAtomic(path, content, { mode: 0o755 });
  chmodSync(path, 0o755);
}

function makeHooksDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(directory);
  chmodSync(directory, 0o755);
}

/** As text, for comparing; undefined where there is nothing. A directory or a dangling link reads as empty. */
function contentAt(path: string): string | undefined {
  if (!exists(path)) return undefined;
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** If it is empty. */
function removeDirectory(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

function ownDirectory(workspace: Workspace): string {
  return join(workspace.storeDir, "hooks");
}

/** Here, or where the repository was before. */
function wasOwnDirectory(directory: string): boolean {
  return directory.endsWith("/backtrail/hooks");
}

/** Also git's own directory, which moves with the repository. */
function placesOf({ commonDir }: Workspace, { places, override }: HooksRecord): HooksPlace[] {
  const standard = join(commonDir, "hooks");
  const isKnown = override !== undefined || places.some(({ directory }) => directory === standard);
  return isKnown ? places : [...places, { directory: standard, made: false }];
}

function recordFile(workspace: Workspace): string {
  return join(workspace.storeDir, "git-hooks.json");
}

function readRecord(workspace: Workspace): HooksRecord | undefined {
  if (readText(recordFile(workspace)) === undefined) return undefined;
  const record = readJson(recordFile(workspace));
  const known = typeof record === "object" && record !== null && "v" in record && record.v === 1;
  return known ? (record as HooksRecord) : undefined;
}

function writeRecord(workspace: Workspace, record: HooksRecord): void {
  writeJson(recordFile(workspace), record, { sync: true });
}
