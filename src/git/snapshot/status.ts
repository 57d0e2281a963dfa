/** Parses `git status --porcelain=v2 -z`: the differences between HEAD, the index and the work tree. */
import { decodePath } from "../../base/fs/path-bytes.ts";

interface TrackedChange {
  path: string;
  /** Index against HEAD: "." unchanged, M, A, D, T. */
  staged: string;
  /** Work tree against index: "." unchanged, M, A (intent to add), D, T. */
  unstaged: string;
  /** "N...", or "S" and what changed for a submodule. */
  submodule: string;
  indexMode: string;
  workMode: string;
  /** Id of the staged blob; zeros if nothing is staged. */
  indexId: string;
}

interface UnmergedChange {
  path: string;
  submodule: string;
  workMode: string;
  stages: [number, string, string][];
}

export interface Status {
  /** The commit of HEAD; null before the first commit. */
  head: string | null;
  /** null when HEAD is detached. */
  branch: string | null;
  tracked: TrackedChange[];
  unmerged: UnmergedChange[];
  /** A nested repository's path ends in "/". */
  untracked: string[];
}

/**
 * Follows `git -c core.untrackedCache=…`. git uses the untracked cache for `--untracked-files=all` only if the config
 * says so too.
 */
export const STATUS_ARGUMENTS = [
  "-c",
  "status.showUntrackedFiles=all",
  "status",
  "--porcelain=v2",
  "-z",
  "--branch",
  "--no-ahead-behind",
  "--no-renames",
  "--untracked-files=all",
  "--ignore-submodules=none",
] as const;

export const ABSENT_MODE = "000000";

export function parseStatus(output: Buffer): Status {
  const status: Status = { head: null, branch: null, tracked: [], unmerged: [], untracked: [] };
  for (let start = 0; start < output.length; ) {
    let end = output.indexOf(0, start);
    if (end === -1) end = output.length;
    readRecord(output.subarray(start, end), status);
    start = end + 1;
  }
  return status;
}

function readRecord(record: Buffer, status: Status): void {
  switch (record[0]) {
    case 0x31: {
      const [f, path] = fields(record, 8);
      status.tracked.push({
        path,
        staged: f[1]?.charAt(0) ?? ".",
        unstaged: f[1]?.charAt(1) ?? ".",
        submodule: f[2] ?? "N...",
        indexMode: f[4] ?? ABSENT_MODE,
        workMode: f[5] ?? ABSENT_MODE,
        indexId: f[7] ?? "",
      });
      return;
    }
    case 0x75: {
      const [f, path] = fields(record, 10);
      const stages: UnmergedChange["stages"] = [];
      for (const stage of [1, 2, 3]) {
        const mode = f[2 + stage];
        const id = f[6 + stage];
        if (mode && id && mode !== ABSENT_MODE) stages.push([stage, mode, id]);
      }
      status.unmerged.push({ path, submodule: f[2] ?? "N...", workMode: f[6] ?? ABSENT_MODE, stages });
      return;
    }
    case 0x3f:
      status.untracked.push(decodePath(record.subarray(2)));
      return;
    case 0x23: {
      const line = record.toString("utf8");
      if (line.startsWith("# branch.oid ") && line !== "# branch.oid (initial)") status.head = line.slice(13);
      if (line.startsWith("# branch.head ") && line !== "# branch.head (detached)") status.branch = line.slice(14);
    }
  }
}

/** The first `count` fields, separated by single spaces, and the path after them. */
function fields(record: Buffer, count: number): [string[], string] {
  const found: string[] = [];
  let start = 0;
  for (let i = 0; i < count; i++) {
    const space = record.indexOf(0x20, start);
    if (space === -1) break;
    found.push(record.toString("latin1", start, space));
    start = space + 1;
  }
  return [found, decodePath(record.subarray(start))];
}
