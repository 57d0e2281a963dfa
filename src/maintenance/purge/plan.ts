/** Plans a purge: counts everything that is recorded, and lists what may prevent the purge. Changes nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import { sizeOnDisk } from "../../base/fs/tree-size.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/format/layout.ts";
import { privateGitDirectory, privateRepository } from "../../git/private/store.ts";
import { hasRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isAlive } from "../../recording/orphaned-turns.ts";
import { listSessions } from "../../recording/session/store.ts";
import { DROPPED_REFS, listForks } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";
import { type LooseObjects, measureLoose, objectsOf, ownRefs, unneeded } from "./objects.ts";

export interface PurgeOptions {
  /** Also delete the checkpoint branch of the user's repository. */
  checkpoints: boolean;
  /** Recording is also turned off, and none of Backtrail's files stay. */
  disable: boolean;
}

/** With `settings`, keeps the settings file that excludes the repository from `enable --scope user`. */
export interface PurgeRequest extends PurgeOptions {
  settings: boolean;
}

export interface PurgePlan extends PurgeOptions {
  steps: number;
  sessions: number;
  refs: number;
  /** The files of the store that will be deleted. */
  files: { count: number; bytes: number };
  /** Objects in the user's repository. */
  objects: LooseObjects;
  privateCheckpoints: boolean;
  /** Whether the user's repository has the checkpoint branch, which is deleted only with `checkpoints`. */
  publicCheckpoints: boolean;
  /** The number of file sets that restores kept and that exist nowhere else. */
  keptFiles: number;
  /** Histories of dropped forks, which git may prune afterwards. */
  droppedHistories: number;
  /** Sessions whose agents are still open. */
  open: { agent: string; session: string }[];
  /** The names of forks. */
  forks: string[];
}

/** Files that recording needs, and files of the user: settings, and original files of other tools. */
const OF_RECORDING = new Set([
  "store.json",
  "settings.json",
  "agents",
  "layout",
  "edits",
  "git-hooks.json",
  "hooks",
  "replaced-hooks",
  "push",
  "forgotten.jsonl",
]);

/** Returns a predicate for the names in the store's directory that stay. */
export function staysIn({ disable, settings }: PurgeRequest): (name: string) => boolean {
  // Hooks of another tool that Backtrail replaced belong to the user.
  if (disable) return (name) => name === "replaced-hooks" || (name === "settings.json" && settings);
  return (name) => OF_RECORDING.has(name);
}

export async function planPurge(workspace: Workspace, options: PurgeOptions): Promise<PurgePlan> {
  const { storeDir } = workspace;
  const stays = staysIn({ ...options, settings: false });
  const goes = namesIn(storeDir).filter((name) => !stays(name));
  const refs = await ownRefs(workspace, options.checkpoints && workspace.kind === "repository");
  const none = { loose: 0, bytes: 0, packed: 0 };
  const hidden = existsSync(privateGitDirectory(workspace)) ? privateRepository(workspace) : null;
  return {
    ...options,
    steps: stepsIn(workspace).list().length,
    sessions: listSessions(workspace).length,
    refs: refs.length,
    files: {
      count: goes.reduce((sum, name) => sum + filesBelow(join(storeDir, name)), 0),
      bytes: goes.reduce((sum, name) => sum + sizeOnDisk(join(storeDir, name)), 0),
    },
    objects:
      workspace.kind === "private"
        ? { ...none, bytes: sizeOnDisk(join(workspace.commonDir, "objects")) }
        : measureLoose(workspace, await unneeded(workspace, await objectsOf(workspace, refs), options.checkpoints)),
    privateCheckpoints:
      hasRef(hidden ?? workspace, CHECKPOINT_BRANCH) && (hidden !== null || workspace.kind === "private"),
    publicCheckpoints: workspace.kind === "repository" && hasRef(workspace, CHECKPOINT_BRANCH),
    keptFiles: namesIn(join(storeDir, "worktrees")).reduce(
      (sum, name) => sum + namesIn(join(storeDir, "worktrees", name, "kept")).length,
      0,
    ),
    droppedHistories: refs.filter(({ name }) => name.startsWith(DROPPED_REFS)).length,
    open: listSessions(workspace).flatMap((state) =>
      state.phase !== "ENDED" && isAlive(state) ? [{ agent: state.agent, session: state.id }] : [],
    ),
    forks: listForks(workspace).map(({ name }) => name),
  };
}

export function isEmptyPurge({ steps, sessions, refs, files, privateCheckpoints, ...plan }: PurgePlan): boolean {
  const hasBranch = plan.publicCheckpoints && plan.checkpoints;
  return steps + sessions + refs + files.count === 0 && !privateCheckpoints && !hasBranch && !plan.disable;
}

function filesBelow(path: string): number {
  const names = namesIn(path);
  return names.length === 0 ? 1 : names.reduce((sum, name) => sum + filesBelow(join(path, name)), 0);
}
