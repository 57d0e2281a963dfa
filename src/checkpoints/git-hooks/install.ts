/**
 * Installs our git hooks in a repository alongside other hook managers, and removes them without a trace. Never writes
 * into a directory that git tracks or that other repositories share: points git at our own directory instead.
 */

import { chmodSync, existsSync, realpathSync, rmdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { makeDirectory, removeFile } from "../../base/fs/files.ts";
import { acquire } from "../../base/fs/lock.ts";
import { log } from "../../base/log.ts";
import { isInside } from "../../base/paths.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { CheckpointError } from "../problems.ts";
import {
  clearDirectory,
  clearOwnDirectory,
  type HooksDirectory,
  isCurrent,
  managerIn,
  type PlannedHook,
  planDirectory,
  settleDirectory,
} from "./directory.ts";
import {
  followMove,
  hooksDirectory,
  isLocalSettingEffective,
  ownDirectory,
  pointAtOwn,
  pointBack,
  wasOwnDirectory,
} from "./hooks-path.ts";
import { MANAGERS } from "./managers.ts";
import { GIT_HOOKS } from "./names.ts";
import {
  type HooksPlace,
  type HooksRecord,
  isContested,
  noteRepair,
  readRecord,
  recordFile,
  writeRecord,
} from "./record.ts";

export interface HooksReport {
  installed: boolean;
  notes: string[];
}

const LOCK_WAIT_MS = 5_000;
const NOTHING: HooksReport = { installed: false, notes: [] };

/** Idempotent: repairs scripts that another tool has overwritten since. */
export async function installGitHooks(workspace: Workspace, executable: string): Promise<HooksReport> {
  if (workspace.kind === "private") return NOTHING;
  return alone(workspace, async () => {
    const record = readRecord(workspace) ?? { v: 1, executable, places: [] };
    // The user asked, so retry repairs that the worker has given up on.
    const { repairs: _, ...rest } = record;
    return install(workspace, { ...rest, executable }, false);
  });
}

/** Restores the previous hooks; returns a sentence for each hook that could not be restored. */
export async function removeGitHooks(workspace: Workspace): Promise<string[]> {
  return alone(workspace, () => remove(workspace));
}

/** Restores scripts that another tool (such as a package manager) has overwritten. No-op if not installed. */
export async function repairGitHooks(workspace: Workspace): Promise<void> {
  if (!readRecord(workspace)) return;
  await alone(workspace, async () => {
    // Recording may have been turned off while we waited for the lock.
    const record = readRecord(workspace);
    if (record) await install(workspace, record, true);
  });
}

export interface GitHooksFound {
  /**
   * `off`: git runs no hooks at all; `shadowed`: git looks elsewhere; `circular`: hooks call each other, or run twice;
   * `missing`: some of our scripts are gone; `contested`: they are gone, and the worker has given up; `left`: a hook
   * calls a file that only our script should call; `outdated`: our scripts call another Backtrail; `old`: an earlier
   * version wrote them.
   */
  state:
    | "installed"
    | "absent"
    | "off"
    | "shadowed"
    | "circular"
    | "missing"
    | "contested"
    | "left"
    | "outdated"
    | "old";
  /** git's hooks directory. */
  place: string;
  /** The other hook manager in use. */
  manager: string | null;
  /** The affected hooks. */
  which: string[];
  /** True if `shadowed` by a setting that our local setting can't override. */
  isForced: boolean;
}

/** Read-only. */
export async function inspectGitHooks(workspace: Workspace, executable: string): Promise<GitHooksFound> {
  const named = await hooksDirectory(workspace);
  const place = resolve(workspace.root, named);
  const record = readRecord(workspace);
  const found = { place, manager: hookManager(workspace, place), which: [], isForced: false };
  if (named === "/dev/null") return { ...found, state: "off" };
  if (!record) return { ...found, state: "absent" };
  const original = place === ownDirectory(workspace) ? (record.override?.original ?? null) : null;
  const isOurs = original !== null || placesOf(workspace, record).some(({ directory }) => directory === place);
  if (!isOurs) {
    const isForced = !(await mayWriteInto(workspace, place)) && !(await isLocalSettingEffective(workspace));
    return { ...found, state: "shadowed", isForced };
  }
  const directory = { path: place, original };
  const planned = planDirectory(workspace, executable, directory);
  const hooksWith = (...findings: PlannedHook["plan"]["finding"][]) =>
    planned.filter(({ plan }) => findings.includes(plan.finding)).map(({ hook }) => hook);
  const circular = hooksWith("circular");
  if (circular.length > 0) return { ...found, state: "circular", which: circular };
  const gone = hooksWith("absent", "replaced");
  if (gone.length > 0) return { ...found, state: isContested(record) ? "contested" : "missing", which: gone };
  if (record.executable !== executable) return { ...found, state: "outdated" };
  const old = planned.filter((one) => one.plan.finding === "unsettled" || !isCurrent(directory, one));
  if (old.length > 0) return { ...found, state: "old", which: old.map(({ hook }) => hook) };
  const left = hooksWith("left");
  return left.length > 0 ? { ...found, state: "left", which: left } : { ...found, state: "installed" };
}

/** Detects the manager by its files in the work tree, or else by the hooks. */
function hookManager({ root }: Workspace, place: string): string | null {
  const isSetUp = MANAGERS.find(({ files }) => files.some((file) => existsSync(join(root, file))));
  return (isSetUp ?? managerIn(place))?.name ?? null;
}

async function alone<T>(workspace: Workspace, change: () => Promise<T>): Promise<T> {
  const lock = await acquire(join(workspace.storeDir, "git-hooks.lock"), LOCK_WAIT_MS);
  if (!lock) throw new CheckpointError("failed", { kind: "git-hooks-locked" });
  try {
    return await change();
  } finally {
    lock.release();
  }
}

async function install(workspace: Workspace, record: HooksRecord, byWorker: boolean): Promise<HooksReport> {
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
    const { original } = record.override;
    return settle(workspace, record, { path: own, original }, byWorker);
  }
  if (record.override && wasOwnDirectory(directory)) {
    await followMove(workspace, record, record.override);
    return settle(workspace, record, { path: own, original: record.override.original }, byWorker);
  }
  if (await mayWriteInto(workspace, directory)) {
    const made = !existsSync(directory);
    if (!record.places.some((place) => place.directory === directory)) record.places.push({ directory, made });
    return settle(workspace, record, { path: directory, original: null }, byWorker);
  }
  return standBefore(workspace, record, named, byWorker);
}

/** Installs our scripts. The worker gives up if another tool keeps replacing them. */
function settle(workspace: Workspace, record: HooksRecord, directory: HooksDirectory, byWorker: boolean): HooksReport {
  const planned = planDirectory(workspace, record.executable, directory);
  const isReplaced = planned.some(({ plan }) => plan.finding === "replaced");
  if (byWorker && isReplaced) {
    if (isContested(record)) return NOTHING;
    noteRepair(record);
    log("info", "git hooks", "Another tool has replaced hooks of ours: they are put back.");
  }
  writeRecord(workspace, record);
  if (directory.original === null) makeHooksDirectory(directory.path);
  else makeDirectory(directory.path);
  settleDirectory(workspace, directory, planned);
  return { installed: true, notes: [] };
}

/** Points git at our own directory, in place of one that we must not write into. */
async function standBefore(
  workspace: Workspace,
  record: HooksRecord,
  named: string,
  byWorker: boolean,
): Promise<HooksReport> {
  if (!(await isLocalSettingEffective(workspace))) {
    const note = `core.hooksPath is set to ${named} for this work tree alone and is left as it is: commits are not linked.`;
    return { installed: false, notes: [note] };
  }
  if (byWorker && record.override) {
    if (isContested(record)) return NOTHING;
    noteRepair(record);
  }
  const original = named.includes("/") ? named : `./${named}`;
  const report = settle(workspace, record, { path: ownDirectory(workspace), original }, false);
  await pointAtOwn(workspace, record, original);
  const note = `The hooks in ${named} are left alone: core.hooksPath points to ours, which call them first.`;
  return { ...report, notes: [note] };
}

async function remove(workspace: Workspace): Promise<string[]> {
  const record = readRecord(workspace);
  if (!record) return [];
  if (record.override) await pointBack(workspace, record.override);
  const own = ownDirectory(workspace);
  const notes = clearOwnDirectory(workspace, own);
  removeDirectory(own);
  for (const place of placesOf(workspace, record)) {
    notes.push(...clearDirectory(workspace, place.directory));
    if (place.made) removeDirectory(place.directory);
  }
  removeFile(recordFile(workspace));
  return notes;
}

/** False for a directory that is shared with colleagues or with other repositories. */
async function mayWriteInto(workspace: Workspace, directory: string): Promise<boolean> {
  const path = realPath(directory);
  if (isInside(realPath(workspace.commonDir), path) || isInside(realPath(workspace.gitDir), path)) return true;
  if (!isInside(workspace.root, path)) return false;
  const script = relative(workspace.root, join(path, GIT_HOOKS[0]));
  const ignored = await tryGit(["check-ignore", "--quiet", "--", script], { cwd: workspace.root });
  return ignored.code === 0;
}

/** Resolves symbolic links: writing through one would change someone else's files. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function makeHooksDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(directory);
  chmodSync(directory, 0o755);
}

/** Only removes an empty directory. */
function removeDirectory(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

/** Includes git's default hooks directory, which moves with the repository. */
function placesOf({ commonDir }: Workspace, { places, override }: HooksRecord): HooksPlace[] {
  const standard = join(commonDir, "hooks");
  const isKnown = override !== undefined || places.some(({ directory }) => directory === standard);
  return isKnown ? places : [...places, { directory: standard, made: false }];
}
