/**
 * Finds files that a state lacks but that its own rules ignored. They may have existed then, so a restore must not
 * delete them as new. They are visible now because a rule or setting changed, or because of `git add --force`.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryBeside } from "../../base/fs/files.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { directoriesAbove, encodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { readConversionConfig } from "../../git/conversion/config-cache.ts";
import { nulSeparated, pathsAtNul } from "../../git/conversion/conversion.ts";
import { isAnchored } from "../../git/ignored/included.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import type { TreeDifference } from "../../git/objects/tree-diff.ts";
import { entryAt, type TreeStore } from "../../git/objects/trees.ts";
import { gitFailure, tryGit } from "../../git/run.ts";
import { type IgnoreRules, recordedRules } from "../../git/snapshot/ignore-rules.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Change } from "../revert/revert.ts";

const RULES = ".gitignore";
const NONE_IGNORED = 1;

/** A state and the ignore rules that applied to it. */
export interface RuledState {
  work: string;
  /** The tracked files, which no rule affects. Null if unknown. */
  index: string | null;
  /** The rules, as a step names them; absent if the step does not record them. */
  ignore?: string | null | undefined;
}

interface Question {
  workspace: Workspace;
  trees: TreeStore;
  present: Snapshot;
  /** Files written by the restore being reverted: if the state before that restore lacks them, they did not exist. */
  ownWrites: ReadonlySet<string>;
}

/** The ignored files among those to be deleted. `differences` lead from the current state to the target state. */
export async function ignoredAtTarget(
  question: Question,
  then: RuledState,
  differences: readonly TreeDifference[],
): Promise<ReadonlySet<string>> {
  const { present, trees, ownWrites } = question;
  let removed = removals(differences).filter((path) => !ownWrites.has(path));
  const isSame = then.ignore === undefined || then.ignore === present.ignore;
  // If the rules are the same, only a file that is tracked now can have been ignored then.
  if (isSame && !differences.some(({ path }) => isRules(path))) removed = await inTree(trees, present.index, removed);
  return ignoredAmong(question, then, removed);
}

/** Like `ignoredAtTarget`, for changes reverted by merging: each change has its own rules from before it. */
export async function ignoredBefore(
  question: Question,
  changes: readonly Change[],
  differences: readonly TreeDifference[],
): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>();
  const removed = new Set(removals(differences).filter((path) => !question.ownWrites.has(path)));
  for (const { before, paths } of changes) {
    const { work, index = null, ignore } = before;
    const own = paths.filter((path) => removed.has(path));
    for (const path of await ignoredAmong(question, { work, index, ignore }, own)) ignored.add(path);
  }
  return ignored;
}

function removals(differences: readonly TreeDifference[]): string[] {
  return differences.filter(({ after }) => after === null).map(({ path }) => path);
}

function isRules(path: string): boolean {
  return path === RULES || path.endsWith(`/${RULES}`);
}

async function inTree(trees: TreeStore, root: string, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if (await entryAt(trees, root, path)) found.push(path);
  return found;
}

async function ignoredAmong(
  { workspace, trees }: Question,
  then: RuledState,
  removed: readonly string[],
): Promise<ReadonlySet<string>> {
  const tracked = new Set(then.index === null ? [] : await inTree(trees, then.index, removed));
  const paths = removed.filter((path) => !tracked.has(path));
  if (paths.length === 0) return new Set();
  const rules = recordedRules(workspace, then.ignore) ?? (await presentRules(workspace));
  const isExcluded = pathMatcher(rules.exclude);
  const excluded = paths.filter(isExcluded);
  const byGit = await ignoredByGit(workspace, trees, then.work, rules.lines, paths);
  const captured = await capturedAmong(workspace, trees, then.work, rules, byGit);
  return new Set([...excluded, ...byGit.filter((path) => !captured.has(path))]);
}

/**
 * The ignored files that the state would have captured had they existed (`capture.include`). Unanchored patterns are
 * not searched for in directories that are ignored as a whole.
 */
async function capturedAmong(
  workspace: Workspace,
  trees: TreeStore,
  tree: string,
  { lines, include = [] }: IgnoreRules,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const isWanted = pathMatcher(include);
  const wanted = paths.filter(isWanted);
  if (wanted.length === 0) return new Set();
  const directories = [...directoriesAbove(wanted)].filter((directory) => directory !== ".");
  const asked = directories.map((directory) => `${directory}/`);
  const ignored = asked.length === 0 ? [] : await ignoredByGit(workspace, trees, tree, lines, asked);
  const isHidden = pathMatcher(ignored.map((directory) => `/${directory}`));
  const isFoundAnyway = pathMatcher(include.filter(isAnchored));
  return new Set(wanted.filter((path) => isFoundAnyway(path) || !isHidden(path)));
}

/** If a step records no rules, the best guess is that only the tree's own .gitignore files have changed. */
async function presentRules(workspace: Workspace): Promise<IgnoreRules> {
  return { lines: (await readConversionConfig(workspace)).ignoreLines ?? "", exclude: [] };
}

/** Asks git, in a temporary repository that contains only these rules. */
async function ignoredByGit(
  workspace: Workspace,
  trees: TreeStore,
  tree: string,
  lines: string,
  paths: readonly string[],
): Promise<string[]> {
  const directory = temporaryBeside(join(workspace.stateDir, "ignored"));
  const [gitDir, place, others] = ["git", "work", "rules"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const any = await layOutRules(workspace, trees, tree, paths, place);
    if (!any && lines === "") return [];
    for (const part of ["objects", "refs"]) mkdirSync(join(gitDir, part), { recursive: true });
    writeFileSync(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
    writeFileSync(others, encodePath(`${lines}\n`));
    const { ignoreCase } = await readConversionConfig(workspace);
    const settings = [`core.excludesFile=${others}`, `core.ignoreCase=${ignoreCase}`].flatMap((set) => ["-c", set]);
    const args = [
      ...settings,
      "--git-dir",
      gitDir,
      "--work-tree",
      place,
      "check-ignore",
      "--no-index",
      "-z",
      "--stdin",
    ];
    const { code, stdout, stderr } = await tryGit(args, { cwd: place, input: nulSeparated(paths) });
    if (code > NONE_IGNORED) throw gitFailure(["check-ignore"], code, stderr);
    return pathsAtNul(stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Writes out the tree's .gitignore files above each path; false if there are none. */
async function layOutRules(
  workspace: Workspace,
  trees: TreeStore,
  tree: string,
  paths: readonly string[],
  place: string,
): Promise<boolean> {
  const reader = new ObjectReader(workspace);
  let any = false;
  try {
    for (const directory of directoriesAbove(paths)) {
      const path = directory === "." ? RULES : `${directory}/${RULES}`;
      const entry = await entryAt(trees, tree, path);
      if (!entry?.mode.startsWith("100")) continue;
      mkdirSync(onDisk(place, directory), { recursive: true, mode: 0o700 });
      writeFileSync(onDisk(place, path), await reader.require(entry.id, "blob"));
      any = true;
    }
  } finally {
    reader.close();
  }
  return any;
}
