/** Reads index entries at given paths, and formats lines that change them. */
import { decodePath, encodePath } from "../../base/fs/path-bytes.ts";
import { gitIn } from "../git.ts";
import type { TreeEntry } from "../objects/trees.ts";
import type { Workspace } from "../workspace.ts";

/** Stage 0 is the staged entry; 1 to 3 are the sides of a conflict. */
export type IndexEntry = [stage: number, mode: string, id: string];

/** Above this count, git lists the whole index. */
const MAX_NAMED_PATHS = 400;

/** Entries by path; a missing path is not in the index. `env` names the index. */
export async function indexEntries(
  workspace: Workspace,
  env: { GIT_INDEX_FILE: string },
  paths: readonly string[],
): Promise<Map<string, IndexEntry[]>> {
  // Names that are not UTF-8 cannot be arguments, so let git list everything.
  const nameable = paths.length <= MAX_NAMED_PATHS && paths.every((path) => !/[\udc80-\udcff]/.test(path));
  const named = nameable ? ["--", ...paths.map((path) => `:(top,literal)${path}`)] : [];
  const output = await gitIn(workspace).run(["ls-files", "--stage", "-z", ...named], { env });
  const wanted = new Set(paths);
  const found = new Map<string, IndexEntry[]>();
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf(0, start);
    const tab = output.indexOf(9, start);
    const [mode = "", id = "", stage = ""] = output.toString("latin1", start, tab).split(" ");
    const path = decodePath(output.subarray(tab + 1, end));
    start = end + 1;
    if (!wanted.has(path)) continue;
    const known = found.get(path);
    if (known) known.push([Number(stage), mode, id]);
    else found.set(path, [[Number(stage), mode, id]]);
  }
  return found;
}

/** A comparable key; empty if the path is not in the index. */
export function entryKey(entries: readonly IndexEntry[] | undefined): string {
  return (entries ?? []).map((entry) => entry.join(" ")).join(", ");
}

/** A line for `update-index -z --index-info`; null removes the path from the index. */
export function indexLine(path: string, entry: TreeEntry | null, stage = 0, idLength = 40): Buffer {
  const head =
    entry === null ? `0 ${"0".repeat(idLength)}` : `${entry.mode} ${entry.id}${stage === 0 ? "" : ` ${stage}`}`;
  return Buffer.concat([Buffer.from(`${head}\t`), encodePath(path), Buffer.from([0])]);
}
