/** Checks that only the user can read the stored data, as SECURITY.md promises, apart from its listed exceptions. */

import { chmodSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../base/errors.ts";
import { configDirectory, dataDirectory, stateDirectory } from "../../../base/paths.ts";
import { loadConfig } from "../../../config/load.ts";
import { ObjectStore } from "../../../git/objects/object-store.ts";
import { TREE_MODE, type TreeEntry, type TreeStore } from "../../../git/objects/trees.ts";
import { hasCurrentLayout, type Workspace } from "../../../git/workspace.ts";
import type { Step } from "../../../model/step.ts";
import { captureOptions } from "../../../recording/dispatcher.ts";
import { currentSnapshot, diffTrees } from "../../../steps/diff.ts";
import { stepsIn } from "../../../steps/log.ts";
import { oldObjects } from "../../../steps/upkeep/old-objects.ts";
import type { DoctorRepair } from "../facts.ts";
import { type DoctorOptions, type Finding, ok, problem, warning, within } from "../finding.ts";

/** git runs the scripts in these directories as the user who commits. */
const PUBLIC: readonly string[] = ["hooks", "replaced-hooks"];
const OPEN_TO_OTHERS = 0o077;

export async function checkModes(workspace: Workspace, options: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { open, owned } = examined(workspace, options);
  const shown = (paths: readonly string[]) => paths.map((path) => within(workspace, path));
  if (open.length > 0) findings.push(problem("modes", { kind: "readable-by-others", paths: shown(open) }, true));
  if (owned.length > 0) findings.push(problem("modes", { kind: "owned-by-another", paths: shown(owned) }));
  const settings = openBelow(configDirectory());
  if (settings.length > 0)
    findings.push(warning("modes", { kind: "settings-readable-by-others", paths: settings }, true));
  if (workspace.kind === "repository") findings.push(...(await inObjectStore(workspace)));
  return findings.length > 0 ? findings : [ok("modes", { kind: "private" })];
}

/** Removes the permissions of other users. */
export function closeToOthers(workspace: Workspace, options: DoctorOptions): DoctorRepair[] {
  const open = [...examined(workspace, options).open, ...openBelow(configDirectory())];
  let closed = 0;
  for (const path of open) {
    try {
      const { mode } = lstatSync(path);
      chmodSync(path, mode & 0o700);
      closed++;
    } catch (error) {
      // Another user owns the file, or it is gone: the next check reports what remains.
      if (codeOf(error) !== "EPERM" && codeOf(error) !== "ENOENT") throw error;
    }
  }
  return closed > 0 ? [{ kind: "permissions-closed", paths: closed }] : [];
}

/** Checks everything that Backtrail writes and other users must not read. */
function examined(workspace: Workspace, { logs }: DoctorOptions): { open: string[]; owned: string[] } {
  const own = workspace.kind === "private" ? workspace.commonDir : workspace.storeDir;
  const roots = new Set([own, workspace.storeDir, dataDirectory(), stateDirectory(), ...(logs ? [logs] : [])]);
  const me = process.geteuid?.();
  return {
    open: [...new Set([...roots].flatMap(openBelow))],
    // Root may work on files of any user.
    owned: me === undefined || me === 0 ? [] : [...roots].filter((path) => (statOf(path)?.uid ?? me) !== me),
  };
}

/** Paths that other users can access. A private directory protects everything below it, whatever the modes there. */
function openBelow(path: string): string[] {
  if (process.platform === "win32") return [];
  const stat = statOf(path);
  if (!stat || stat.isSymbolicLink() || (stat.mode & OPEN_TO_OTHERS) === 0) return [];
  if (!stat.isDirectory()) return [path];
  const below = readdirSync(path).filter((name) => !PUBLIC.includes(name));
  return [path, ...below.flatMap((name) => openBelow(join(path, name)))];
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Reports data that earlier versions stored where anyone who can read the repository can read it. */
async function inObjectStore(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  const objects = (await oldObjects(workspace)).length;
  if (objects > 0) findings.push(warning("modes", { kind: "conversations-in-object-store", objects }));
  if (!hasCurrentLayout(workspace)) findings.push(warning("modes", { kind: "conversations-not-moved" }, true));
  const { steps, paths } = await copiedPrivateFiles(workspace);
  if (paths.length > 0) findings.push(warning("modes", { kind: "private-files-in-object-store", paths, steps }));
  return findings;
}

/** Private files that earlier versions copied to the repository, although the user had not staged them. */
async function copiedPrivateFiles(workspace: Workspace): Promise<{ steps: string[]; paths: string[] }> {
  const earlier = stepsIn(workspace)
    .list()
    .filter(({ snapshot }) => snapshot.permissions === undefined);
  if (earlier.length === 0) return { steps: [], paths: [] };
  const { work, shared } = await currentSnapshot(workspace, captureOptions(loadConfig(workspace)));
  if (!shared) return { steps: [], paths: [] };
  const files = (await diffTrees(workspace, shared.work, work)).map(({ path }) => path);
  using objects = new ObjectStore(workspace);
  const found = { steps: new Set<string>(), paths: new Set<string>() };
  for (const step of earlier) {
    for (const path of files) {
      if (!(await isCopied(objects.trees, step, path))) continue;
      found.steps.add(step.id);
      found.paths.add(path);
    }
  }
  return { steps: [...found.steps], paths: [...found.paths] };
}

async function isCopied(trees: TreeStore, { snapshot }: Step, path: string): Promise<boolean> {
  const [copy, staged] = [await entryAt(trees, snapshot.work, path), await entryAt(trees, snapshot.index, path)];
  return copy !== undefined && copy.id !== staged?.id;
}

async function entryAt(trees: TreeStore, root: string, path: string): Promise<TreeEntry | undefined> {
  let entry: TreeEntry | undefined = { mode: TREE_MODE, id: root };
  for (const name of path.split("/")) {
    if (entry?.mode !== TREE_MODE) return undefined;
    entry = (await trees.read(entry.id)).get(name);
  }
  return entry;
}
