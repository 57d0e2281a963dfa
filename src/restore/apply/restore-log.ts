/** restores.jsonl: every restore of this work tree, in order, so that each can be reverted. */
import { join } from "node:path";
import { appendLine, readText } from "../../base/fs/files.ts";
import { readDetail } from "../../git/snapshot/details.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Change } from "../revert/revert.ts";
import type { TurnName } from "../targets/turns.ts";
import type { RestoreKind } from "../types.ts";

export interface RestoreRecord {
  v: 1;
  id: string;
  kind: RestoreKind;
  time: string;
  /** The step or commit restored, or the turns reverted. */
  target: { step: string } | { commit: string } | { turns: TurnName[]; changes: Change[]; markers: boolean };
  /** The step that holds the state before the restore. */
  safetyStep: string;
  /** The session that was current before; null if there was none. */
  session: { agent: string; id: string; transcript: string } | null;
  /** The session that the restore created. Earlier versions did not record its transcript. */
  fork: { agent: string; id: string; transcript?: string } | null;
  /** The commit that the branch was moved from. */
  head: string | null;
  /** The restore that this one reverted. */
  takesBack: string | null;
  /** Path patterns that limited the restore; null for all files. */
  paths: string[] | null;
  /** In order: files and conversation, files only, some files, conversation only. */
  scope: "all" | "code" | "paths" | "chat";
  /** Detail that lists the files written; absent if none were. */
  wrote?: string;
  /**
   * The changes reverted by merging, which kept later changes: set for `rewind --keep-mine`, and for a restore that
   * reverted another by merging. Undo and take record this in their target.
   */
  merged?: RecordedMerge;
}

export interface RecordedMerge {
  changes: Change[];
  markers: boolean;
}

export function appendRestore(workspace: Workspace, record: RestoreRecord): void {
  if (readRestores(workspace).some(({ id }) => id === record.id)) return;
  appendLine(recordsFile(workspace), JSON.stringify(record));
}

/** Oldest first. Skips torn lines. */
export function readRestores(workspace: Workspace): RestoreRecord[] {
  const records: RestoreRecord[] = [];
  for (const line of (readText(recordsFile(workspace)) ?? "").split("\n")) {
    const record = parse(line);
    if (record) records.push(record);
  }
  return records;
}

/** Rewinds, undos and takes that have not been reverted, oldest first. */
export function activeRestores(workspace: Workspace): RestoreRecord[] {
  return effectiveRestores(readRestores(workspace)).filter(({ kind }) => kind !== "redo" && kind !== "fork");
}

/**
 * Restores that have not been reverted, oldest first. Reverting a reversal makes the original restore effective again.
 */
export function effectiveRestores(records: readonly RestoreRecord[]): RestoreRecord[] {
  const takenBack = new Set<string>();
  const effective = records.toReversed().filter(({ id, takesBack }) => {
    if (takenBack.has(id)) return false;
    if (takesBack !== null) takenBack.add(takesBack);
    return true;
  });
  return effective.reverse();
}

/** True if a restore kept what came after the operation it reverted. Earlier versions did not record this. */
export function isMerged(record: RestoreRecord, records: readonly RestoreRecord[]): boolean {
  if (mergeOf(record)) return true;
  const original = records.find(({ id }) => id === record.takesBack);
  return original !== undefined && mergeOf(original) !== null;
}

/** The changes a restore reverted by merging; null if it restored a whole state. */
export function mergeOf({ target, merged }: RestoreRecord): RecordedMerge | null {
  if ("turns" in target) return target;
  return Array.isArray(merged?.changes) ? merged : null;
}

/** The paths of the files a restore wrote. */
export function writtenBy(workspace: Workspace, id: string | null): ReadonlySet<string> {
  const wrote = id === null ? undefined : readRestores(workspace).find((record) => record.id === id)?.wrote;
  try {
    const paths: unknown = JSON.parse((wrote && readDetail(workspace, wrote)) || "[]");
    return new Set(Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : []);
  } catch {
    return new Set();
  }
}

export function recordsFile(workspace: Workspace): string {
  return join(workspace.stateDir, "restores.jsonl");
}

function parse(line: string): RestoreRecord | undefined {
  if (line === "") return undefined;
  try {
    const record = JSON.parse(line) as RestoreRecord;
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the fields that readers rely on. */
function isRecord(record: Partial<RestoreRecord> | null): boolean {
  const { v, id, kind, time, target, safetyStep, paths } = record ?? {};
  return (
    v === 1 &&
    [id, kind, time, safetyStep].every((field) => typeof field === "string") &&
    isTarget(target) &&
    (paths === null || (Array.isArray(paths) && paths.every((path) => typeof path === "string")))
  );
}

function isTarget(target: unknown): boolean {
  if (typeof target !== "object" || target === null) return false;
  const { step, commit, turns, changes } = target as Record<string, unknown>;
  return typeof step === "string" || typeof commit === "string" || (Array.isArray(turns) && Array.isArray(changes));
}
