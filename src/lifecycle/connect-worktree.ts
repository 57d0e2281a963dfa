/** Recording goes on in a new worktree: what `enable` put into untracked files of this one is put there as well. */
import { constants, copyFileSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { install } from "../agents/install.ts";
import type { Profile } from "../agents/profile.ts";
import { getAgent } from "../agents/registry.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import { isInside } from "../base/paths.ts";
import { readStore, type Workspace } from "../git/workspace.ts";

/** Of the user alone, and never committed. */
const LOCAL_SETTINGS = ".backtrail/settings.local.json";

export interface HookNote {
  agent: string;
  text: string;
}

/** Doing it twice is doing it once. `from` is the root that it was made from. */
export async function connectWorktree(worktree: Workspace, from: string, executable: string): Promise<HookNote[]> {
  copyMissing(from, worktree.root, LOCAL_SETTINGS);
  const notes: HookNote[] = [];
  for (const [id, { scope }] of Object.entries(readStore(worktree)?.agents ?? {})) {
    const agent = await getAgent(id);
    if (scope !== "local" || !agent?.profile.hooks || agent.ownHooks) continue;
    try {
      const file = localFile(agent.profile);
      if (file !== undefined) copyMissing(from, worktree.root, file);
      const done = await install(agent, "local", { workspace: worktree, executable });
      notes.push(...done.notes.map((text) => ({ agent: id, text })));
    } catch (error) {
      notes.push({ agent: id, text: `Nothing is recorded of ${id} there: ${messageOf(error)}` });
    }
  }
  return notes;
}

function localFile({ hooks }: Profile): string | undefined {
  return (hooks?.settings.local ?? hooks?.settings.project)?.path;
}

/** A plain file only, and never over another: what is there counts more. */
function copyMissing(from: string, to: string, path: string): void {
  const source = join(from, path);
  if (!lstatSync(source, { throwIfNoEntry: false })?.isFile()) return;
  const target = join(to, path);
  if (lstatSync(target, { throwIfNoEntry: false })) return;
  try {
    mkdirSync(dirname(target), { recursive: true });
    // The directory may be a link.
    if (!isInside(to, realpathSync(dirname(target)))) return;
    copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}
