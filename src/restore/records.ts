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

function recordsFile(workspace: Workspace): string {
  return join(workspace.stateDir, "restores.jsonl");
}

function parse(line: string): RestoreRecord | undefined {
  if (line === "") return undefined;
  try {
    const record = JSON.parse(line) as RestoreRecord;
    return record?.v === 1 && typeof record.id === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
