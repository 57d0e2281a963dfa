/**
 * Reads the inputs of a plan from git: how the current state differs from a target, and which files neither captured.
 */
import type { Agent } from "../../agents/contract/agent.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { decodePath } from "../../base/fs/path-bytes.ts";
import type { ConversionRules } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import type { ObjectReader } from "../../git/objects/reader.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { entryAt, type TreeEntry, type TreeStore } from "../../git/objects/trees.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { StepSnapshot } from "../../model/step.ts";
import { rulesFor } from "../apply/attributes.ts";
import type { StateTarget } from "../types.ts";
import { convertedOtherwise, hasChangedSettings, otherFiles } from "./converted-otherwise.ts";
import type { PlanInput } from "./files.ts";
import { workTreeView } from "./work-tree.ts";

/** The content of a target. A commit records neither the index nor untracked files. */
export interface TargetState extends Pick<StepSnapshot, "work" | "raw" | "shared" | "notCaptured" | "lineEnds"> {
  staged: StepSnapshot | null;
  /** The tracked files and the ignore rules as a step names them; null or absent if unknown. */
  index: string | null;
  ignore?: string | null | undefined;
  permissions?: string | null | undefined;
  head: string | null;
  /** True if the state includes untracked files, so a file it lacks did not exist. */
  holdsUntracked: boolean;
}

/** Object access and prefetched queries. */
export interface PlanObjects {
  trees: TreeStore;
  reader: ObjectReader;
  /** git's conversion rules for the current files. */
  rules(): ConversionRules;
  unwatched: Promise<ReadonlySet<string>>;
  agents: Promise<readonly Pick<Agent, "profile">[]>;
}

export function stateOf(target: StateTarget): TargetState {
  if (target.kind === "commit") {
    const { tree, commit } = target;
    return { work: tree, raw: null, notCaptured: [], staged: null, index: tree, head: commit, holdsUntracked: false };
  }
  const { snapshot, head } = target.step;
  return { ...snapshot, staged: snapshot, head, holdsUntracked: true };
}

export async function planInput(
  workspace: Workspace,
  objects: PlanObjects,
  present: Snapshot,
  target: TargetState,
  patterns: readonly string[] | undefined,
): Promise<PlanInput> {
  const { trees, unwatched, agents } = objects;
  const all = await compareTrees(trees, present.work, target.work);
  const tracked = target.holdsUntracked
    ? undefined
    : new Set((await compareTrees(trees, present.index, target.work)).map(({ path }) => path));
  const differences = tracked ? all.filter(({ path, after }) => after !== null || tracked.has(path)) : all;
  const presentRaw = await idsIn(trees, present.raw);
  const targetRaw = await idsIn(trees, target.raw);
  if (!target.lineEnds) await keepUnrecorded(trees, present, target, presentRaw, targetRaw);
  return {
    differences,
    presentRaw,
    targetRaw,
    rawOnly: await rawOnly(workspace, objects, { present, target, presentRaw, targetRaw, differences }),
    uncapturedNow: present.notCaptured,
    uncapturedAtTarget: target.notCaptured,
    protectedDirectories: [...new Set((await agents).flatMap(({ profile }) => profile.protected_dirs))],
    skipWorktreePaths: await unwatched,
    isSelected: patterns && patterns.length > 0 ? pathMatcher(patterns) : () => true,
    workTree: workTreeView(workspace.root),
  };
}

async function idsIn(trees: TreeStore, tree: string | null): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { path, after } of await compareTrees(trees, null, tree)) if (after) ids.set(path, after.id);
  return ids;
}

/**
 * Commits and steps of older versions lack the exact bytes of files that git considered unchanged. Such files stay as
 * they are if git still considers them identical.
 */
async function keepUnrecorded(
  trees: TreeStore,
  present: Snapshot,
  target: TargetState,
  presentRaw: ReadonlyMap<string, string>,
  targetRaw: Map<string, string>,
): Promise<void> {
  for (const [path, id] of presentRaw) {
    if (targetRaw.has(path)) continue;
    const now = await entryAt(trees, present.work, path);
    const [staged, then] = [await entryAt(trees, present.index, path), await entryAt(trees, target.work, path)];
    if (now && now.id === staged?.id && now.id === then?.id) targetRaw.set(path, id);
  }
}

interface ExactBytes extends Pick<PlanInput, "differences" | "presentRaw" | "targetRaw"> {
  present: Snapshot;
  target: TargetState;
}

/** Files that git considers identical but whose bytes differ. */
async function rawOnly(
  workspace: Workspace,
  { trees, reader, rules }: PlanObjects,
  { present, target, presentRaw, targetRaw, differences }: ExactBytes,
): Promise<Map<string, TreeEntry>> {
  const different = new Set(differences.map(({ path }) => path));
  const entries = new Map<string, TreeEntry>();
  for (const path of new Set([...presentRaw.keys(), ...targetRaw.keys()])) {
    if (different.has(path) || presentRaw.get(path) === targetRaw.get(path)) continue;
    const entry = await entryAt(trees, target.work, path);
    if (entry) entries.set(path, entry);
  }
  const isKnown = (path: string) => different.has(path) || presentRaw.has(path) || targetRaw.has(path);
  const others = hasChangedSettings(present, target, different)
    ? await otherFiles(trees, target.work, isKnown)
    : new Map<string, TreeEntry>();
  if (entries.size + others.size === 0) return entries;
  const files = [...entries.keys(), ...others.keys()].map((path) => ({ path }));
  const rulesThen = await rulesFor(workspace, { trees, reader }, target.work, files, target.lineEnds);
  const bytesNow = (path: string, { id }: TreeEntry) =>
    presentRaw.get(path) ?? (present.lineEnds && rules().writesUnchanged(path) ? id : undefined);
  const bytesThen = (path: string, { id }: TreeEntry) =>
    targetRaw.get(path) ?? (rulesThen.writesUnchanged(path) ? id : undefined);
  // With different settings or attributes, the same bytes may have been stored as raw or as a plain blob.
  for (const [path, entry] of entries) {
    const now = bytesNow(path, entry);
    if (now !== undefined && now === bytesThen(path, entry)) entries.delete(path);
  }
  for (const [path, entry] of convertedOtherwise(workspace, others, rules(), rulesThen)) entries.set(path, entry);
  return entries;
}

/**
 * Paths marked skip-worktree or assume-unchanged: git does not read these files, so a snapshot holds their index
 * entries whatever is on disk.
 */
export async function unwatchedPaths(workspace: Workspace): Promise<Set<string>> {
  const paths = new Set<string>();
  if (workspace.kind === "private") return paths;
  const { code, stdout } = await gitIn(workspace).try(["ls-files", "-v", "-z"]);
  if (code !== 0) return paths;
  // A single regex scan: there is one entry per file and almost none are marked.
  for (const { index, 0: entry } of `\0${stdout.toString("latin1")}`.matchAll(/\0[Sa-z] [^\0]+/g))
    paths.add(decodePath(stdout.subarray(index + "S ".length, index + entry.length - 1)));
  return paths;
}
