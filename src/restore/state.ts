/** Reads from git what a plan needs: how the present differs from a target, and what is known to be in neither. */
import type { Agent } from "../agents/agent.ts";
import { pathMatcher } from "../base/glob.ts";
import { decodePath } from "../base/path-bytes.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Snapshot } from "../git/snapshot.ts";
import { compareTrees } from "../git/tree-diff.ts";
import { TREE_MODE, type TreeEntry, type TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { StepSnapshot } from "../steps/model.ts";
import { groundAt } from "./ground.ts";
import type { Place } from "./model.ts";
import type { PlanInput } from "./plan.ts";

/** What a target holds; a commit knows nothing of what was staged, or of files that git did not track. */
export interface TargetState extends Pick<StepSnapshot, "work" | "raw" | "notCaptured"> {
  staged: StepSnapshot | null;
  head: string | null;
  /** Also of files that git does not track: one that it lacks was not there. */
  holdsUntracked: boolean;
}

/** Trees, and what was asked for beforehand. */
export interface PlanObjects {
  trees: TreeStore;
  unwatched: Promise<ReadonlySet<string>>;
  agents: Promise<readonly Pick<Agent, "profile">[]>;
}

export function stateOf(target: Place): TargetState {
  if (target.kind === "commit") {
    const { tree, commit } = target;
    return { work: tree, raw: null, notCaptured: [], staged: null, head: commit, holdsUntracked: false };
  }
  const { snapshot, head } = target.step;
  const { work, raw, notCaptured } = snapshot;
  return { work, raw, notCaptured, staged: snapshot, head, holdsUntracked: true };
}

export async function planInput(
  workspace: Workspace,
  { trees, unwatched, agents }: PlanObjects,
  present: Snapshot,
  target: TargetState,
  patterns: readonly string[] | undefined,
): Promise<PlanInput> {
  const all = await compareTrees(trees, present.work, target.work);
  const tracked = target.holdsUntracked
    ? undefined
    : new Set((await compareTrees(trees, present.index, target.work)).map(({ path }) => path));
  const differences = tracked ? all.filter(({ path, after }) => after !== null || tracked.has(path)) : all;
  return {
    differences,
    presentRaw: await idsIn(trees, present.raw),
    targetRaw: await idsIn(trees, target.raw),
    rawOnly: await rawOnly(trees, present, target, new Set(differences.map(({ path }) => path))),
    missedNow: present.notCaptured,
    missedThen: target.notCaptured,
    protectedDirectories: [...new Set((await agents).flatMap(({ profile }) => profile.protected_dirs))],
    unwatched: await unwatched,
    isChosen: patterns && patterns.length > 0 ? pathMatcher(patterns) : () => true,
    ground: groundAt(workspace.root),
  };
}

/** The entry at a path of a tree; null where there is none. */
export async function entryAt(trees: TreeStore, root: string | null, path: string): Promise<TreeEntry | null> {
  let id = root;
  const parts = path.split("/");
  for (const [i, part] of parts.entries()) {
    const entry = (await trees.read(id)).get(part);
    if (!entry) return null;
    if (i === parts.length - 1) return entry;
    if (entry.mode !== TREE_MODE) return null;
    id = entry.id;
  }
  return null;
}

async function idsIn(trees: TreeStore, tree: string | null): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { path, after } of await compareTrees(trees, null, tree)) if (after) ids.set(path, after.id);
  return ids;
}

async function rawOnly(
  trees: TreeStore,
  present: Snapshot,
  target: TargetState,
  known: ReadonlySet<string>,
): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  for (const { path } of await compareTrees(trees, present.raw, target.raw)) {
    if (known.has(path)) continue;
    const entry = await entryAt(trees, target.work, path);
    if (entry) entries.set(path, entry);
  }
  return entries;
}

/**
 * Paths whose index entries are marked skip-worktree or assume-unchanged: git does not look at the files, so a
 * snapshot holds what is staged, whatever lies there.
 */
export async function unwatchedPaths(workspace: Workspace): Promise<Set<string>> {
  const paths = new Set<string>();
  if (workspace.kind === "private") return paths;
  const { args, cwd } = gitLocation(workspace);
  const { code, stdout } = await tryGit([...args, "ls-files", "-v", "-z"], { cwd });
  if (code !== 0) return paths;
  // One search through all of them: there are as many as there are files, and hardly ever one that is marked.
  for (const { index, 0: entry } of `\0${stdout.toString("latin1")}`.matchAll(/\0[Sa-z] [^\0]+/g))
    paths.add(decodePath(stdout.subarray(index + "S ".length, index + entry.length - 1)));
  return paths;
}
