/** A census: everything in a world that must not get lost, as git and the file system show it at one moment. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { blobId, fileId } from "./content.ts";
import { readSteps, type StepContents } from "./steps.ts";
import { entryAt, namesIn } from "./work-files.ts";
import type { World } from "./world.ts";

interface WorkTree {
  /** What is staged, one entry a line with its flags; null where git can't tell. */
  index: string | null;
  /** The branch that is checked out, or the commit. */
  head: string | null;
}

export interface Census {
  /** By path below the root: content and kind of each file that is not ignored. */
  files: Map<string, string>;
  ignored: Map<string, string>;
  workTrees: Map<string, WorkTree>;
  /** Contents that are staged somewhere. */
  staged: Set<string>;
  /** By store and name, without those of Backtrail and of its checkpoints. */
  refs: Map<string, string>;
  stash: string;
  /** Everything that the user's refs, reflogs and indexes lead to. */
  reachable: Set<string>;
  commits: Set<string>;
  /** Commits and what they hold, under names that Backtrail gave them. */
  kept: Map<string, Set<string>>;
  steps: Map<string, StepContents>;
  transcripts: Map<string, string>;
  /** Permissions of files, by path. */
  modes: Map<string, number>;
  /** What git could not read. */
  broken: string[];
}

/** Settings that Backtrail writes by order, and logs of runs. */
const OUR_FILES = /(^|\/)(\.claude\/settings[^/]*\.json|\.gemini\/settings\.json|\.backtrail\/.*|\.aiwr\/.*)$/;
/** The kind of a file stands before its content: an executable, a link, a plain one. */
export function contentOf(entry: string): string {
  return entry.slice(2);
}

export function takeCensus(world: World): Census {
  const census: Census = {
    files: new Map(),
    ignored: new Map(),
    workTrees: new Map(),
    staged: new Set(),
    refs: new Map(),
    stash: "",
    reachable: new Set(),
    commits: new Set(),
    kept: new Map(),
    steps: new Map(),
    transcripts: new Map(),
    modes: new Map(),
    broken: [],
  };
  const stores = new Set(world.stores);
  walk(world.root, join(world.root, "w"), census.files, stores, census.modes);
  for (const place of world.places()) lookAtWorkTree(world, place, census);
  for (const store of withModules(stores)) lookAtStore(world, store, census);
  for (const store of privateStores(world)) {
    lookAtPrivateStore(world, store, census);
  }
  for (const folder of [".claude/projects", ".gemini/tmp"]) {
    walk(world.root, join(world.home, folder), census.transcripts, new Set());
  }
  return census;
}

function lookAtPrivateStore(world: World, store: string, census: Census): void {
  const args = [`--git-dir=${store}`, "for-each-ref", "--format=%(objectname)", "refs/backtrail/sessions"];
  const sessions = askGit(world, store, args)?.split("\n").filter(Boolean) ?? [];
  for (const [id, step] of readSteps(world, store, sessions)) {
    const shared = census.steps.get(id);
    census.steps.set(id, shared ? both(shared, step) : step);
  }
}

function both(shared: StepContents, whole: StepContents): StepContents {
  return {
    entries: new Map([...shared.entries, ...whole.entries]),
    kinds: new Map([...shared.kinds, ...whole.kinds]),
    number: shared.number,
  };
}

/** Stores of folders without git. */
function privateStores(world: World): string[] {
  const folders = join(world.home, "backtrail", "data", "folders");
  return namesIn(folders)
    .map((name) => join(folders, name))
    .filter((path) => existsSync(join(path, "objects")));
}

function walk(
  root: string,
  directory: string,
  into: Map<string, string>,
  stores: Set<string>,
  modes?: Map<string, number>,
): void {
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    const entry = entryAt(path);
    if (!entry) continue;
    if (entry.isDirectory() && (name === ".git" || name.endsWith(".git"))) stores.add(path);
    else if (entry.isDirectory()) walk(root, path, into, stores, modes);
    else if (name === ".git") continue;
    else if (!OUR_FILES.test(path)) {
      const described = describe(path, entry.isSymbolicLink(), (entry.mode & 0o100) !== 0);
      if (described) into.set(relative(root, path), described);
      modes?.set(relative(root, path), entry.mode & 0o777);
    }
  }
}

function describe(path: string, isLink: boolean, isExecutable: boolean): string | null {
  try {
    return isLink ? `l ${blobId(readlinkSync(path))}` : `${isExecutable ? "x" : "-"} ${fileId(readFileSync(path))}`;
  } catch {
    return null;
  }
}

function lookAtWorkTree(world: World, place: string, census: Census): void {
  // A folder without git has the same rules: an empty repository reads them.
  const at = world.variant === "folder" ? [`--git-dir=${world.emptyRepository()}`, "--work-tree=."] : [];
  const others = askGit(world, place, [...at, "ls-files", "-z", "--others", "--ignored", "--exclude-standard"]);
  for (const name of others?.split("\0") ?? []) {
    const path = relative(world.root, join(place, name));
    const entry = census.files.get(path);
    if (!name || !entry) continue;
    census.files.delete(path);
    census.ignored.set(path, entry);
  }
  const index = askGit(world, place, ["ls-files", "-v", "--stage", "-z"]);
  for (const line of index?.split("\0") ?? []) {
    const content = /^\S \d+ ([0-9a-f]{40}) /.exec(line)?.[1];
    if (content) census.staged.add(content);
  }
  census.workTrees.set(relative(world.root, place), { index, head: headOf(place) });
}

/** What the file HEAD of a work tree says; null where there is none. */
function headOf(place: string): string | null {
  try {
    const git = join(place, ".git");
    const directory = entryAt(git)?.isFile() ? readFileSync(git, "utf8").replace("gitdir: ", "").trim() : git;
    return readFileSync(join(directory, "HEAD"), "utf8").trim();
  } catch {
    return null;
  }
}

/** Repositories of submodules lie in the one that has them, and in its records of worktrees. */
function withModules(stores: Iterable<string>): string[] {
  return [...stores].flatMap((store) => {
    const records = namesIn(join(store, "worktrees")).map((name) => join(store, "worktrees", name));
    const inside = [store, ...records].flatMap((owner) =>
      namesIn(join(owner, "modules")).map((name) => join(owner, "modules", name)),
    );
    return [store, ...withModules(inside)].filter((path) => existsSync(join(path, "objects")));
  });
}

function lookAtStore(world: World, store: string, census: Census): void {
  const name = relative(world.root, store);
  // The work tree that the repository of a submodule names may be gone, and git then fails.
  const ask = (...args: string[]) => askGit(world, store, [`--git-dir=${store}`, `--work-tree=${store}`, ...args]);
  const sessions: string[] = [];
  for (const line of ask("for-each-ref", "--format=%(objectname) %(refname)")?.split("\n") ?? []) {
    const [id = "", ref = ""] = line.split(" ");
    if (ref.startsWith("refs/backtrail/sessions/")) sessions.push(id);
    if (ref.startsWith("refs/backtrail/dropped/")) {
      census.kept.set(ref, new Set(ask("rev-list", "--objects", "--no-object-names", id)?.split("\n")));
    }
    if (!ref || ref.startsWith("refs/backtrail/") || ref.startsWith("refs/heads/entire/")) continue;
    census.refs.set(`${name} ${ref}`, id);
  }
  const objects = ask("rev-list", "--objects", "--exclude=refs/backtrail/*", "--all", "--reflog", "--indexed-objects");
  if (objects === null) census.broken.push(`${name}: the objects that refs lead to`);
  for (const line of objects?.split("\n") ?? []) {
    const id = line.slice(0, 40);
    census.reachable.add(id);
    // Everything but a commit has a name behind it, if only an empty one.
    if (line.length === 40) census.commits.add(id);
  }
  census.stash += textIn(join(store, "logs", "refs", "stash"));
  for (const [id, step] of readSteps(world, store, sessions)) census.steps.set(id, step);
  // Files that others may not read are in a store of their own, which has whole steps instead of those without them.
  const secret = join(store, "backtrail", "private.git");
  if (existsSync(secret)) lookAtPrivateStore(world, secret, census);
}

function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Null if git fails; it may just have been busy, so it is asked again. */
function askGit(world: World, cwd: string, args: string[]): string | null {
  const options = {
    cwd,
    env: world.env({ GIT_OPTIONAL_LOCKS: "0" }),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  } as const;
  const ended = spawnSync("git", args, options);
  return ended.status === 0 ? ended.stdout : null;
}
