/**
 * Keeps git from reading large tracked files while a hook waits: git rereads a file at every status once its times have
 * changed but its size has not. Marks these files as `--assume-unchanged` in the private index; a snapshot compares
 * their times itself.
 */
import { existsSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { readJson, removeFile, writeJson } from "../../base/fs/files.ts";
import { decodePath, encodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { gitIn } from "../git.ts";
import { privateIndex } from "../index/private-index.ts";
import { fullMarkOf, statOf } from "../index/stat-cache.ts";
import { EXECUTABLE_MODE, FILE_MODE } from "../objects/trees.ts";
import type { Workspace } from "../workspace.ts";

/** From this size on, rereading a file causes a noticeable delay. */
export const LARGE_BYTES = 64 << 20;
const LIST_TIMEOUT_MS = 3_000;

export interface LargeFile {
  path: string;
  /** The staged mode. */
  mode: string;
  id: string;
  /** The file's mark if its content equals the staged blob; null if that is not known. */
  clean: string | null;
}

interface Known {
  v: 1;
  /** Name of the private index in which the files are marked. */
  index: string;
  files: LargeFile[];
}

/** Whether `git status` must skip large files. Most repositories have none. */
export function hasLargeFiles(workspace: Workspace): boolean {
  return existsSync(listFile(workspace));
}

/** Returns the known large files after marking them in the private index at `index`. */
export async function markedLargeFiles(workspace: Workspace, index: string): Promise<LargeFile[]> {
  const known = readKnown(workspace);
  if (!known) return [];
  if (known.index === nameOf(index)) return known.files;
  const paths = new Set(known.files.map(({ path }) => path));
  return remember(workspace, index, await stagedFiles(workspace, index, (path) => paths.has(path)));
}

/** Finds large files in the whole index and marks them. */
export async function findLargeFiles(
  workspace: Workspace,
  index = privateIndex(workspace).path,
  minBytes = LARGE_BYTES,
): Promise<LargeFile[]> {
  if (!existsSync(index)) return [];
  const known = new Set(readKnown(workspace)?.files.map(({ path }) => path));
  // The index records size 0 if it does not trust a file's stat data.
  const found = await stagedFiles(workspace, index, (path, size) => size === 0 || size >= minBytes || known.has(path));
  const large = found.filter(({ path, bytes, isMarked }) => {
    // A marked file that we do not know was marked by the user and stays skipped. We must check the ones we marked.
    return isMarked ? known.has(path) : bytes >= minBytes;
  });
  return remember(workspace, index, large);
}

async function remember(workspace: Workspace, index: string, found: readonly StagedFile[]): Promise<LargeFile[]> {
  if (found.length === 0) {
    removeFile(listFile(workspace));
    return [];
  }
  await mark(workspace, index, found);
  const files = found.map(({ path, mode, id, clean }) => ({ path, mode, id, clean }));
  writeJson(listFile(workspace), { v: 1, index: nameOf(index), files } satisfies Known);
  return files;
}

/** Restores the index's modification time, by which git decides which entries to trust. */
async function mark(workspace: Workspace, index: string, files: readonly StagedFile[]): Promise<void> {
  const { atime, mtimeMs } = statSync(index);
  const input = Buffer.concat(files.flatMap(({ path }) => [encodePath(path), Buffer.from([0])]));
  const env = { GIT_INDEX_FILE: index };
  await gitIn(workspace).run(["-c", "core.splitIndex=false", "update-index", "--assume-unchanged", "-z", "--stdin"], {
    env,
    input,
    timeoutMs: LIST_TIMEOUT_MS,
  });
  utimesSync(index, atime, Math.floor(mtimeMs) / 1000);
}

interface StagedFile extends LargeFile {
  /** Size of the file in the work tree; 0 if it is missing. */
  bytes: number;
  /** Whether git skips the file. */
  isMarked: boolean;
}

/** The index flags assume-unchanged and skip-worktree. */
const MARKS = 0x40008000;

/** Lists the regular files of the index that `isWanted` accepts by path and recorded size. */
async function stagedFiles(
  workspace: Workspace,
  index: string,
  isWanted: (path: string, size: number) => boolean,
): Promise<StagedFile[]> {
  const written = statSync(index, { bigint: true }).mtimeNs;
  const env = { GIT_INDEX_FILE: index };
  const list = ["ls-files", "--stage", "--debug", "-z"];
  const output = await gitIn(workspace).run(list, { env, timeoutMs: LIST_TIMEOUT_MS });
  const files: StagedFile[] = [];
  for (let start = 0; start < output.length; ) {
    const tab = output.indexOf(9, start);
    const nul = output.indexOf(0, tab);
    const end = output.indexOf("\tflags: ", nul);
    const newline = output.indexOf(10, end);
    if (tab === -1 || nul === -1 || end === -1 || newline === -1) break;
    const [mode = "", id = "", stage = ""] = output.toString("latin1", start, tab).split(" ");
    const times = TIMES.exec(output.toString("latin1", nul + 1, end));
    const size = Number(times?.[6] ?? 0);
    const isFile = stage === "0" && (mode === FILE_MODE || mode === EXECUTABLE_MODE);
    const path = isFile && times ? decodePath(output.subarray(tab + 1, nul)) : "";
    if (times && path !== "" && isWanted(path, size)) {
      const stat = regularFile(workspace, path);
      const isClean = stat !== undefined && matches(times, stat) && stat.mtimeNs < written;
      const flags = Number.parseInt(output.toString("latin1", end + "\tflags: ".length, newline), 16);
      files.push({
        path,
        mode,
        id,
        clean: isClean ? fullMarkOf(stat) : null,
        bytes: Number(stat?.size ?? 0),
        isMarked: (flags & MARKS) !== 0,
      });
    }
    start = newline + 1;
  }
  return files;
}

const TIMES =
  /^ {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n {2}uid: \d+\tgid: \d+\n {2}size: (\d+)$/;

type Stat = NonNullable<ReturnType<typeof statOf>>;

function matches(times: RegExpExecArray, { ctimeNs, mtimeNs, ino, size }: Stat): boolean {
  const [, cSeconds = 0, cNanos = 0, mSeconds = 0, mNanos = 0, inode = 0, bytes = 0] = times.map(Number);
  const billion = 1_000_000_000n;
  return (
    BigInt(cSeconds) * billion + BigInt(cNanos) === ctimeNs &&
    BigInt(mSeconds) * billion + BigInt(mNanos) === mtimeNs &&
    BigInt(inode) === BigInt.asUintN(32, ino) &&
    BigInt(bytes) === BigInt.asUintN(32, size)
  );
}

function regularFile(workspace: Workspace, path: string): Stat | undefined {
  try {
    const stat = statOf(onDisk(workspace.root, path));
    return stat?.isFile() ? stat : undefined;
  } catch {
    return undefined;
  }
}

function readKnown(workspace: Workspace): Known | undefined {
  try {
    const known = readJson(listFile(workspace)) as Partial<Known> | undefined;
    return known?.v === 1 && Array.isArray(known.files) ? (known as Known) : undefined;
  } catch {
    return undefined;
  }
}

/** A warmed copy counts as the same index. */
function nameOf(index: string): string {
  return basename(index, ".warm");
}

function listFile(workspace: Workspace): string {
  return join(workspace.stateDir, "large-files.json");
}
