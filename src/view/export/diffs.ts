/** The changes of a turn with the lines of every file, within a limit for the whole export. */
import { UserError } from "../../base/errors.ts";
import type { ChangedFile, ExportedChanges, FileDiff } from "../protocol.ts";
import { changes, fileDiff } from "../server/queries/files/differences.ts";
import { Query } from "../server/queries/query.ts";
import type { Context } from "../server/routes.ts";

/** In characters. A file that is opened in a browser should not take minutes to read. */
const MAX_ALL = 24_000_000;
const MAX_FILE = 2_000_000;
const MAX_FILE_LINES = 20_000;

export class DiffBudget {
  #left = MAX_ALL;

  /** False, and nothing spent, if there is no room. */
  spend(characters: number): boolean {
    if (characters > MAX_FILE || characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }
}

/** Null if the state before or after is not recorded. */
export async function changesOf(context: Context, id: string, budget: DiffBudget): Promise<ExportedChanges | null> {
  try {
    const found = await changes(context, new Query(new URLSearchParams({ turn: id })));
    const diffs: FileDiff[] = [];
    for (const file of found.files) diffs.push(await diffOf(context, id, file, budget));
    return { changes: found, diffs };
  } catch (error) {
    if (error instanceof UserError && error.kind === "not-found") return null;
    throw error;
  }
}

async function diffOf(context: Context, turn: string, file: ChangedFile, budget: DiffBudget): Promise<FileDiff> {
  const { path, oldPath } = file;
  const leftOut: FileDiff = { path, oldPath, kind: "left-out" };
  const lines = (file.lines?.added ?? 0) + (file.lines?.deleted ?? 0);
  if (lines > MAX_FILE_LINES) return leftOut;
  const names = { turn, path, ...(oldPath === null ? {} : { oldPath }) };
  let diff = await fileDiff(context, new Query(new URLSearchParams(names)));
  while (diff.kind === "text" && diff.next !== null) {
    const more = await fileDiff(context, new Query(new URLSearchParams({ ...names, offset: String(diff.next) })));
    if (more.kind !== "text") break;
    diff = { ...more, hunks: [...diff.hunks, ...more.hunks] };
  }
  return budget.spend(JSON.stringify(diff).length) ? diff : leftOut;
}
