/** git-hooks.json in the store: records our changes to a repository's hooks, so that they can be undone. */

import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { readJson, readText, writeJson } from "../../base/fs/files.ts";
import { isRecord } from "../../base/json.ts";
import type { Workspace } from "../../git/workspace.ts";

export interface HooksRecord {
  v: 1;
  executable: string;
  places: HooksPlace[];
  /** Set if `core.hooksPath` points at our directory. */
  override?: HooksOverride;
  /** Times at which the worker restored scripts that another tool had replaced. */
  repairs?: string[];
}

export interface HooksPlace {
  directory: string;
  /** True if we created the directory. */
  made: boolean;
}

export interface HooksOverride {
  /** The previous local setting; null if there was none. */
  before: string | null;
  /** The previous configuration file and a digest of the changed one: if unchanged since, its bytes are restored. */
  content: string;
  became: string;
  /** The user's hooks directory: absolute, or relative to the work tree's root. */
  original: string;
}

const MAX_REPAIRS = 10;
const REPAIRS_WITHIN_MS = 3_600_000;

export function recordFile(workspace: Workspace): string {
  return join(workspace.storeDir, "git-hooks.json");
}

export function readRecord(workspace: Workspace): HooksRecord | undefined {
  if (readText(recordFile(workspace)) === undefined) return undefined;
  const record = readJson(recordFile(workspace));
  return isRecord(record) && record["v"] === 1 ? (record as unknown as HooksRecord) : undefined;
}

export function writeRecord(workspace: Workspace, record: HooksRecord): void {
  if (readText(recordFile(workspace)) === `${JSON.stringify(record)}\n`) return;
  writeJson(recordFile(workspace), record, { sync: true });
}

/** True if another tool keeps replacing our scripts: the worker then stops until the user installs again. */
export function isContested(record: HooksRecord): boolean {
  return recentRepairs(record).length >= MAX_REPAIRS;
}

export function noteRepair(record: HooksRecord): void {
  record.repairs = [...recentRepairs(record), now().toISOString()];
}

function recentRepairs({ repairs }: HooksRecord): string[] {
  if (!Array.isArray(repairs)) return [];
  const since = now().getTime() - REPAIRS_WITHIN_MS;
  return repairs.filter((time) => Date.parse(time) > since);
}
