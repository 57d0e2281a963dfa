/** restores.jsonl: every restore of this work tree, in order, so that each can be taken back. */
import { join } from "node:path";
import { appendLine, readText } from "../base/files.ts";
import type { Workspace } from "../git/workspace.ts";
import type { RestoreKind } from "./model.ts";
import type { Change } from "./take-back.ts";
import type { TurnName } from "./turns.ts";

export interface RestoreRecord {
  v: 1;
  id: string;
  kind: RestoreKind;
  time: string;
  /** The step or commit that was gone to; or the turns that were taken back. */
  target: { step: string } | { commit: string } | { turns: TurnName[]; changes: Change[]; markers: boolean };
  /** The state before. */
  safetyStep: string;
  /** The session whose conversation was current before; null where there was none. */
  session: { agent: string; id: string; transcript: string } | null;
  /** The session that was made by it. */
  fork: { agent: string; id: string } | null;
  /** Where the branch was moved from. */
  head: string | null;
  /** The restore that it took back. */
  takesBack: string | null;
  /** The patterns of the files that it was about; null for all. */
  paths: string[] | null;
  /** Files and conversation, files alone, some files, the conversation alone. */
  scope: "all" | "code" | "paths" | "chat";
}

export function appendRestore(workspace: Workspace, record: RestoreRecord): void {
  if (readRestores(workspace).some(({ id }) => id === record.id)) return;
  appendLine(recordsFile(workspace), JSON.stringify(record));
}

/** Oldest first; a torn line is skipped. */
export function readRestores(workspace: Workspace): RestoreRecord[] {
  const records: RestoreRecord[] = [];
  for (const line of (readText(recordsFile(workspace)) ?? "").split("\n")) {
    const record = parse(line);
    if (record) records.push(record);
  }
  return records;
}

/** Rewinds, undos and takes that were not taken back, oldest first. */
export function standingRestores(workspace: Workspace): RestoreRecord[] {
  const records = readRestores(workspace);
  const taken = new Set(records.map(({ takesBack }) => takesBack));
  return records.filter(({ id, kind }) => kind !== "redo" && kind !== "fork" && !taken.has(id));
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

/** Enough of its shape that nobody stumbles over the rest. */
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
