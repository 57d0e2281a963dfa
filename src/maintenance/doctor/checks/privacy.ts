/** Checks that only the user can read the stored data, as SECURITY.md promises, apart from its listed exceptions. */

import { chmodSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../base/errors.ts";
import { configDirectory, dataDirectory, stateDirectory } from "../../../base/paths.ts";
import { plural, shownPath } from "../../../base/text.ts";
import { loadConfig } from "../../../config/load.ts";
import { ObjectStore } from "../../../git/objects/object-store.ts";
import { TREE_MODE, type TreeEntry, type TreeStore } from "../../../git/objects/trees.ts";
import { hasCurrentLayout, type Workspace } from "../../../git/workspace.ts";
import type { Step } from "../../../model/step.ts";
import { captureOptions } from "../../../recording/dispatcher.ts";
import { currentSnapshot, diffTrees } from "../../../steps/diff.ts";
import { stepsNewestFirst } from "../../../steps/index-file.ts";
import { oldObjects } from "../../../steps/upkeep/old-objects.ts";
import { type DoctorOptions, FIX, type Finding, ok, problem, some, warning, within } from "../finding.ts";

/** git runs the scripts in these directories as the user who commits. */
const PUBLIC: readonly string[] = ["hooks", "replaced-hooks"];
const OPEN_TO_OTHERS = 0o077;
const PRUNE = "`git gc --prune=now` removes them. Run it while no agent is at work.";

export async function checkModes(workspace: Workspace, options: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { open, owned } = examined(workspace, options);
  if (open.length > 0) {
    const names = some(open.map((path) => within(workspace, path)));
    findings.push(problem("modes", `Others on this machine may read ${names}.`, FIX, true));
  }
  if (owned.length > 0) {
    const message = `Another user owns ${some(owned.map((path) => within(workspace, path)))}, and can read it.`;
    findings.push(problem("modes", message, "Was Backtrail run as another user? `chown` makes it yours."));
  }
  const settings = openBelow(configDirectory());
  if (settings.length > 0) {
    const message = `Others on this machine may read your settings: ${some(settings.map(shownPath))}.`;
    findings.push(warning("modes", message, FIX, true));
  }
  if (workspace.kind === "repository") findings.push(...(await inObjectStore(workspace)));
  return findings.length > 0 ? findings : [ok("modes", "nobody else can read what is stored")];
}

/** Removes the permissions of other users. Returns messages about the changes. */
export function closeToOthers(workspace: Workspace, options: DoctorOptions): string[] {
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
  return closed > 0 ? [`Made ${plural(closed, "file or folder", "files and folders")} yours alone again.`] : [];
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
  const left = await oldObjects(workspace);
  if (left.length > 0) {
    const message = `git's object store still has conversations that an earlier version kept there (${plural(left.length, "object")}). Whoever can read the repository can read them, and a clone of its path takes them along.`;
    findings.push(warning("modes", message, PRUNE));
  }
  if (!hasCurrentLayout(workspace)) {
    const message = "Conversations that an earlier version recorded are still in git's object store.";
    findings.push(warning("modes", message, "`backtrail doctor --fix` moves them into private files.", true));
  }
  const { steps, paths } = await copiedPrivateFiles(workspace);
  if (paths.length > 0) {
    const message = `Steps of an earlier version have copies of files that others may not read in git's object store: ${some(paths.map(shownPath))} (${plural(steps.length, "step")}, such as ${steps[0]}).`;
    const hint = "They go with the steps: in time, or by `backtrail forget <step>` and `git gc --prune=now`.";
    findings.push(warning("modes", message, hint));
  }
  return findings;
}

/** Private files that earlier versions copied to the repository, although the user had not staged them. */
async function copiedPrivateFiles(workspace: Workspace): Promise<{ steps: string[]; paths: string[] }> {
  const earlier = [...stepsNewestFirst(workspace)].filter(({ snapshot }) => snapshot.permissions === undefined);
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
