/**
 * Where Backtrail works: a work tree, its git directory and the store beside it. A folder without git has a
 * private repository in the user's data directory instead. Found by looking, without starting a process.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { UserError } from "../base/errors.ts";
import { makeDirectory, readJson, writeFileAtomic, writeJson } from "../base/files.ts";
import { logError } from "../base/log.ts";
import { dataDirectory } from "../base/paths.ts";
import { git } from "./run.ts";

export interface Workspace {
  kind: "repository" | "private";
  /** The work tree's root, without symbolic links. */
  root: string;
  /** This work tree's git directory; for a private store, the private repository. */
  gitDir: string;
  commonDir: string;
  /** "main", or the name of a linked worktree. */
  worktree: string;
  storeDir: string;
  /** What belongs to this work tree alone. */
  stateDir: string;
  hash: "sha1" | "sha256";
  refStorage: "files" | "reftable";
}

/** store.json: its presence means that Backtrail is enabled here. */
export interface StoreRecord {
  v: 1;
  enabledAt: string;
  /** What `enable` installed for each agent, so that `disable` finds it. */
  agents: Record<string, { scope: string; files: string[] }>;
}

/** The work tree that `cwd` lies in: the nearest git repository or folder with a private store. */
export function findWorkspace(cwd: string): Workspace | undefined {
  let directory: string;
  try {
    directory = realpathSync(cwd);
  } catch {
    return undefined;
  }
  for (;;) {
    const gitDir = gitDirectoryAt(directory);
    if (gitDir) return repositoryWorkspace(directory, gitDir);
    const store = privateStorePath(directory);
    if (existsSync(join(store, "HEAD"))) return privateWorkspace(directory, store);
    const parent = dirname(directory);
    if (parent === directory) return undefined;
    directory = parent;
  }
}

export function isEnabled(workspace: Workspace): boolean {
  return existsSync(join(workspace.storeDir, "store.json"));
}

/** Whether there is anything to look at or go back to; what was recorded outlives `disable`. */
function isRecorded(workspace: Workspace): boolean {
  return isEnabled(workspace) || existsSync(join(workspace.storeDir, "steps.jsonl"));
}

/** The workspace around `cwd`, or an error that says how to get one. */
export function requireWorkspace(cwd: string): Workspace {
  const workspace = findWorkspace(cwd);
  if (!workspace || !isRecorded(workspace)) {
    throw new UserError(
      "not-found",
      workspace
        ? `Backtrail is not enabled in ${workspace.root}.`
        : `${cwd} is not a git repository, and Backtrail is not enabled for it.`,
      "Run `backtrail enable` here to start recording.",
    );
  }
  return workspace;
}

/** Undefined where there is none, or what is there is no such record; entries that make no sense are left out. */
export function readStore(workspace: Workspace): StoreRecord | undefined {
  try {
    const record = readJson(join(workspace.storeDir, "store.json")) as Partial<StoreRecord> | null | undefined;
    if (typeof record !== "object" || record === null || !isTable(record.agents)) return undefined;
    const agents = Object.entries(record.agents ?? {}).filter(
      ([, agent]) => isTable(agent) && typeof agent.scope === "string" && Array.isArray(agent.files),
    );
    return { ...(record as StoreRecord), agents: Object.fromEntries(agents) };
  } catch (error) {
    logError("store.json", error);
    return undefined;
  }
}

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function writeStore(workspace: Workspace, record: StoreRecord): void {
  writeJson(join(workspace.storeDir, "store.json"), record, { sync: true });
}

/** A workspace for `cwd` whether or not it is enabled; a folder without git gets its private repository made. */
export async function createWorkspace(cwd: string): Promise<Workspace> {
  const workspace = findWorkspace(cwd) ?? (await createPrivate(realpathSync(cwd)));
  makeDirectory(workspace.stateDir);
  return workspace;
}

async function createPrivate(folder: string): Promise<Workspace> {
  const store = privateStorePath(folder);
  makeDirectory(dirname(store));
  await git(["init", "--quiet", "--bare", store], { cwd: folder });
  // git's own templates may bring hooks and excludes of the user's; what matters here is that gc keeps our refs.
  await git(["--git-dir", store, "config", "gc.auto", "0"], { cwd: folder });
  writeFileAtomic(join(store, "folder"), `${folder}\n`);
  return privateWorkspace(folder, store);
}

function repositoryWorkspace(root: string, gitDir: string): Workspace {
  const commonDir = commonDirectory(gitDir);
  const worktree = gitDir === commonDir ? "main" : linkedName(basename(gitDir));
  return workspaceAt("repository", root, gitDir, commonDir, worktree);
}

/** A fork of such a folder shares its store, by the file with which git links worktrees. */
function privateWorkspace(root: string, store: string): Workspace {
  const commonDir = commonDirectory(store);
  return workspaceAt("private", root, store, commonDir, store === commonDir ? "main" : basename(store, ".git"));
}

function workspaceAt(
  kind: Workspace["kind"],
  root: string,
  gitDir: string,
  commonDir: string,
  worktree: string,
): Workspace {
  const storeDir = join(commonDir, "backtrail");
  return {
    kind,
    root,
    gitDir,
    commonDir,
    worktree,
    storeDir,
    stateDir: join(storeDir, "worktrees", worktree),
    ...formats(commonDir),
  };
}

/** A linked worktree may itself be called "main". */
function linkedName(name: string): string {
  return name === "main" ? "main~linked" : name;
}

export function privateStorePath(folder: string): string {
  const key = hexDigest("sha256", folder).slice(0, 20);
  return join(dataDirectory(), "folders", `${key}.git`);
}

/** `.git` as a directory, or as a file that says where the directory is (worktrees, submodules). */
function gitDirectoryAt(directory: string): string | undefined {
  const candidate = join(directory, ".git");
  try {
    const stat = statSync(candidate);
    if (stat.isDirectory()) return existsSync(join(candidate, "HEAD")) ? candidate : undefined;
    const match = /^gitdir: (.*?)\r?\n?$/.exec(readFileSync(candidate, "utf8"));
    if (!match?.[1]) return undefined;
    const target = resolve(directory, match[1]);
    return existsSync(join(target, "HEAD")) ? realpathSync(target) : undefined;
  } catch {
    return undefined;
  }
}

function commonDirectory(gitDir: string): string {
  try {
    const text = readFileSync(join(gitDir, "commondir"), "utf8").trim();
    return isAbsolute(text) ? text : resolve(gitDir, text);
  } catch {
    return gitDir;
  }
}

function formats(commonDir: string): Pick<Workspace, "hash" | "refStorage"> {
  let config = "";
  try {
    config = readFileSync(join(commonDir, "config"), "utf8");
  } catch {
    // A repository without a config file has the default formats.
  }
  return {
    hash: /^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t\r]*$/im.test(config) ? "sha256" : "sha1",
    refStorage: /^[ \t]*refstorage[ \t]*=[ \t]*reftable/im.test(config) ? "reftable" : "files",
  };
}
