/**
 * Finds the workspace: a work tree, its git directory and the store in it. A folder without git has a private
 * repository in the user's data directory instead. Discovery starts no process.
 */

import { chmodSync, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { ProblemError } from "../base/errors.ts";
import { makeDirectory, readJson, readText, writeFileAtomic, writeJson } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { logError } from "../base/log.ts";
import { dataDirectory } from "../base/paths.ts";
import type { GitProblem } from "./problems.ts";
import { git } from "./run.ts";

export interface Workspace {
  kind: "repository" | "private";
  /** The work tree's root, with symbolic links resolved. */
  root: string;
  /** This work tree's git directory; for a private store, the private repository. */
  gitDir: string;
  commonDir: string;
  /** "main", or the name of a linked worktree. */
  worktree: string;
  storeDir: string;
  /** Directory for the state of this work tree alone. */
  stateDir: string;
  hash: "sha1" | "sha256";
  refStorage: "files" | "reftable";
}

export interface ConnectedAgent {
  scope: string;
  files: string[];
  /** When the agent's hooks were last written; absent in stores of earlier versions. */
  since?: string;
  /** The scope of the agent's MCP server; absent if `enable --mcp` did not install it. */
  mcp?: string;
  /** The scope of the agent's commands; absent if `enable --commands` did not install them. */
  commands?: string;
  /** Connected by `enable --scope user` for every repository, so this store must not remove the hooks. */
  everywhere?: true;
}

/** The content of store.json. The file exists if and only if Backtrail is enabled here. */
export interface StoreRecord {
  v: 1;
  enabledAt: string;
  /** What `enable` installed for each agent, for `disable` to remove. */
  agents: Record<string, ConnectedAgent>;
}

const CURRENT_LAYOUT = "2";

/** Finds the work tree that contains `cwd`: the nearest git repository or folder with a private store. */
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

/** Whether the workspace has recorded history, which outlives `disable`. */
function isRecorded(workspace: Workspace): boolean {
  return isEnabled(workspace) || existsSync(join(workspace.storeDir, "steps.jsonl"));
}

/** Returns the workspace that contains `cwd`, or throws an error that explains how to enable one. */
export function requireWorkspace(cwd: string): Workspace {
  const workspace = findWorkspace(cwd);
  if (!workspace || !isRecorded(workspace)) {
    throw new ProblemError<GitProblem>("not-found", {
      kind: "not-recorded",
      directory: cwd,
      root: workspace?.root ?? null,
    });
  }
  return workspace;
}

/** Returns undefined if store.json is missing or invalid; skips invalid agent entries. */
export function readStore(workspace: Workspace): StoreRecord | undefined {
  try {
    const record = readJson(join(workspace.storeDir, "store.json")) as Partial<StoreRecord> | null | undefined;
    if (!isRecord(record) || !isRecord(record.agents)) return undefined;
    const agents = Object.entries(record.agents ?? {}).filter(
      ([, agent]) => isRecord(agent) && typeof agent.scope === "string" && Array.isArray(agent.files),
    );
    return { ...(record as StoreRecord), agents: Object.fromEntries(agents) };
  } catch (error) {
    logError("store.json", error);
    return undefined;
  }
}

export function writeStore(workspace: Workspace, record: StoreRecord): void {
  writeJson(join(workspace.storeDir, "store.json"), record, { sync: true });
}

/** Returns the workspace for `cwd`, enabled or not. Creates a private repository for a folder without git. */
export async function createWorkspace(cwd: string): Promise<Workspace> {
  const workspace = findWorkspace(cwd) ?? (await createPrivate(realpathSync(cwd)));
  if (!existsSync(workspace.storeDir)) markLayout(workspace);
  makeDirectory(workspace.stateDir);
  return workspace;
}

/** Whether the store has the current layout. Earlier versions kept conversations in the object store. */
export function hasCurrentLayout(workspace: Workspace): boolean {
  return readText(layoutFile(workspace))?.trim() === CURRENT_LAYOUT;
}

export function markLayout(workspace: Workspace): void {
  writeFileAtomic(layoutFile(workspace), `${CURRENT_LAYOUT}\n`, { sync: true });
}

function layoutFile({ storeDir }: Workspace): string {
  return join(storeDir, "layout");
}

async function createPrivate(folder: string): Promise<Workspace> {
  const store = privateStorePath(folder);
  makeDirectory(dirname(store));
  await git(["init", "--quiet", "--bare", store], { cwd: folder });
  // Independent of the umask and of who created the parent directories.
  chmodSync(store, 0o700);
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

/** A fork of such a folder shares its store through `commondir`, the file with which git links worktrees. */
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

/** A linked worktree may itself be named "main". */
function linkedName(name: string): string {
  return name === "main" ? "main~linked" : name;
}

export function privateStorePath(folder: string): string {
  const key = hexDigest("sha256", folder).slice(0, 20);
  return join(dataDirectory(), "folders", `${key}.git`);
}

/** Resolves `.git`, which is a directory, or a file that names the directory (worktrees, submodules). */
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
