/**
 * operations.jsonl: operations that are neither a restore nor a step, so that they can be listed and reverted: dropped
 * forks, and reverted saves and drops. docs/formats/operations.md specifies the format.
 */
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { appendLine, readText } from "../../base/fs/files.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { ForkRecord } from "../../steps/forks.ts";

export type OperationRecord = DropRecord | TakenBackSave | TakenBackDrop;

interface Base {
  v: 1;
  id: string;
  time: string;
}

export interface DropRecord extends Base {
  kind: "drop";
  takesBack: null;
  fork: ForkRecord;
  /** The step with the fork's last state; null if its files were unchanged. */
  step: string | null;
  /** The last commit of the fork's branch; null if it had no branch. */
  tip: string | null;
}

export interface TakenBackSave extends Base {
  kind: "redo";
  takesBack: string;
  what: "save";
  step: string;
  /** The name that the step lost or regained. */
  name: string;
}

export interface TakenBackDrop extends Base {
  kind: "redo";
  takesBack: string;
  what: "drop";
  /** The name of the recreated fork. */
  fork: string;
}

/** Appends each id once: a process restarted after a kill may repeat the call. */
export function appendOperation(workspace: Workspace, record: OperationRecord): void {
  if (readOperations(workspace).some(({ id }) => id === record.id)) return;
  appendLine(operationsFile(workspace), JSON.stringify(record));
}

/** Records that a dropped fork exists again. */
export function appendReversedDrop(
  workspace: Workspace,
  fork: string,
  { drop, operation }: { drop: string; operation: string },
): void {
  const time = now().toISOString();
  appendOperation(workspace, { v: 1, id: operation, time, kind: "redo", takesBack: drop, what: "drop", fork });
}

/** Oldest first. Skips torn lines. */
export function readOperations(workspace: Workspace): OperationRecord[] {
  return (readText(operationsFile(workspace)) ?? "").split("\n").flatMap((line) => parse(line) ?? []);
}

function operationsFile(workspace: Workspace): string {
  return join(workspace.stateDir, "operations.jsonl");
}

function parse(line: string): OperationRecord | undefined {
  if (line === "") return undefined;
  try {
    const record = JSON.parse(line) as OperationRecord;
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(record: OperationRecord | null): boolean {
  if (record?.v !== 1 || typeof record.id !== "string" || typeof record.time !== "string") return false;
  if (record.kind === "drop") return typeof record.fork?.name === "string";
  if (record.kind !== "redo" || typeof record.takesBack !== "string") return false;
  return record.what === "save" ? typeof record.name === "string" : typeof record.fork === "string";
}
