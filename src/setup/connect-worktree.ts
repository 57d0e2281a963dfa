/** Connects a new worktree: adds to it what `enable` wrote to untracked files of the original work tree. */
import { constants, copyFileSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Profile } from "../agents/contract/profile.ts";
import { install } from "../agents/hooks/install.ts";
import { getAgent } from "../agents/registry/registry.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import { isFreeOfLinks } from "../base/fs/guarded-files.ts";
import { readStore, type Workspace } from "../git/workspace.ts";

/** The user's own settings, which are never committed. */
const LOCAL_SETTINGS = ".backtrail/settings.local.json";

export interface HookNote {
  agent: string;
  text: string;
}

/** Idempotent. `from` is the root of the original work tree. */
export async function connectWorktree(worktree: Workspace, from: string, executable: string): Promise<HookNote[]> {
  copyMissing(from, worktree.root, LOCAL_SETTINGS);
  const notes: HookNote[] = [];
  for (const [id, { scope }] of Object.entries(readStore(worktree)?.agents ?? {})) {
    const agent = await getAgent(id);
    if (scope !== "local" || !agent?.profile.hooks || agent.selfInstaller) continue;
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

/** Copies only a regular file, and never overwrites an existing one. */
function copyMissing(from: string, to: string, path: string): void {
  const source = join(from, path);
  if (!lstatSync(source, { throwIfNoEntry: false })?.isFile()) return;
  const target = join(to, path);
  if (lstatSync(target, { throwIfNoEntry: false })) return;
  if (!isFreeOfLinks(to, target)) return;
  try {
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}
