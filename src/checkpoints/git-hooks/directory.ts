/** Plans, installs and removes our scripts in one hooks directory. */
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import type { Workspace } from "../../git/workspace.ts";
import { applyMoves, setAsideHooks, writeScript } from "./apply.ts";
import { earlierHook, keptName, leadsToOursElsewhere, readHookFile, readHookFiles } from "./files.ts";
import { type HookManager, managerOf, signIn } from "./managers.ts";
import { GIT_HOOKS, OTHER_HOOKS } from "./names.ts";
import { type HookPlan, type HookView, planInstall, planRemove } from "./plan.ts";
import { writeHookScript } from "./script.ts";

export interface HooksDirectory {
  path: string;
  /** The user's directory that our hooks pass on to, absolute or relative to the root; null if ours are in it. */
  original: string | null;
}

export interface PlannedHook {
  hook: string;
  plan: HookPlan;
  /** The text of the script at the plan's site; null if there is no script. */
  script: string | null;
}

export function planDirectory(workspace: Workspace, executable: string, directory: HooksDirectory): PlannedHook[] {
  const names = namesIn(directory.path);
  return hooksIn(workspace, directory).map((hook) => {
    const plan = planInstall(view(workspace, directory.path, hook, names));
    return { hook, plan, script: scriptOf(workspace, executable, directory, hook, plan) };
  });
}

/** Applies the plans. Leaves a file that another tool changes at the same time for the next call. */
export function settleDirectory(
  { storeDir }: Workspace,
  { path }: HooksDirectory,
  planned: readonly PlannedHook[],
): void {
  for (const { plan, script } of planned) {
    applyMoves(path, storeDir, plan.moves);
    if (plan.site === null || script === null) continue;
    const present = readHookFile(path, plan.site);
    if (present && !present.isOurs && present.identity !== plan.kept?.identity) continue;
    writeScript(path, plan.site, storeDir, { script, replaces: plan.kept?.identity });
  }
}

/** True if the script at the plan's site is executable and has the expected text. */
export function isCurrent({ path }: HooksDirectory, { plan, script }: PlannedHook): boolean {
  if (plan.site === null || script === null) return true;
  const present = readHookFile(path, plan.site);
  return present?.content === Buffer.from(script).toString("latin1") && (present.mode & 0o111) !== 0;
}

/** Returns another hook manager that has scripts in the directory. */
export function managerIn(path: string): HookManager | null {
  const names = namesIn(path);
  const theirs = GIT_HOOKS.flatMap((hook) => [...readHookFiles(path, hook, names).values()]).filter(
    (file) => !file.isOurs,
  );
  return theirs.map(({ content }) => managerOf(content)).find((manager) => manager !== null) ?? null;
}

/** Removes our scripts; returns a sentence for each hook that could not be restored. */
export function clearDirectory(workspace: Workspace, path: string): string[] {
  const notes: string[] = [];
  const names = namesIn(path);
  for (const hook of GIT_HOOKS) {
    const plan = planRemove(view(workspace, path, hook, names));
    applyMoves(path, workspace.storeDir, plan.moves);
    if (!plan.kept) continue;
    notes.push(
      `${join(path, hook)} is no longer ours and was left; the hook that was there before is ${plan.kept.name}.`,
    );
  }
  return notes;
}

/** Empties the directory that belongs to us; moves files that are not ours into the store. */
export function clearOwnDirectory({ storeDir }: Workspace, path: string): string[] {
  const notes: string[] = [];
  for (const name of namesIn(path)) {
    const file = readHookFile(path, name);
    if (!file) continue;
    applyMoves(path, storeDir, [{ do: file.isOurs ? "remove" : "set aside", name }]);
    if (!file.isOurs) notes.push(`${name} in ${path} is not ours: it is kept in ${join(storeDir, "replaced-hooks")}.`);
  }
  return notes;
}

function view(workspace: Workspace, path: string, hook: string, names: readonly string[]): HookView {
  return {
    hook,
    files: readHookFiles(path, hook, names),
    setAside: setAsideHooks(workspace.storeDir, hook),
    leadsElsewhere: (file) => leadsToOursElsewhere(file, workspace.root, path),
  };
}

/** In the user's directory, the hooks that we need; in ours, all hooks, since git looks nowhere else. */
function hooksIn({ root }: Workspace, { original }: HooksDirectory): string[] {
  if (original === null) return [...GIT_HOOKS];
  const theirs = namesIn(resolve(root, original)).filter((name) => /^[a-z][a-z0-9-]+$/.test(name));
  return [...new Set([...GIT_HOOKS, ...OTHER_HOOKS, ...theirs])];
}

function scriptOf(
  { root, commonDir, storeDir }: Workspace,
  executable: string,
  { path, original }: HooksDirectory,
  hook: string,
  { site, kept }: HookPlan,
): string | null {
  if (site === null) return null;
  const earlier = kept ? [earlierHook(kept, hook, keptName(hook), join(path, keptName(hook)))] : [];
  if (original !== null) {
    const identity = resolve(root, original, hook);
    earlier.push({ path: `${original}/${hook}`, identity, shell: null, mayCallItself: false, sign: null });
  }
  const manager = kept && site === hook ? managerOf(kept.content) : null;
  const standsFor = kept && manager?.adoptsBySign ? signIn(manager, kept.content) : null;
  const isDefault = path === join(commonDir, "hooks") && !isLink(path);
  return writeHookScript({ hook, site, executable, storeDir: isDefault ? null : storeDir, earlier, standsFor });
}

/** If the directory is a symbolic link, the script cannot derive the store from its own path. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
