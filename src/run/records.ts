/** What we write into logs ourselves, and how a log is read back: runs, separated where a session was continued. */
import { isRecord } from "../agents/profile.ts";

/** Between two runs of one session. */
export const SEPARATOR = "----------";

export interface StartRecord {
  type: "aiwr_start";
  prompt: string;
  /** As runs call it: `claude`. */
  agent: string;
  /** Null where the agent chooses. */
  model: string | null;
}

export interface MetaRecord {
  type: "aiwr_meta";
  parent_id: string;
}

/** In the place of a line that was too long to be read. */
export interface DroppedRecord {
  type: "aiwr_dropped";
  bytes: number;
}

export type RunStatus = "running" | "completed" | "failed" | "interrupted";

export function startOf(value: unknown): StartRecord | undefined {
  if (!isRecord(value) || value["type"] !== "aiwr_start") return undefined;
  const { prompt, agent, model } = value;
  if (typeof prompt !== "string" || typeof agent !== "string") return undefined;
  return { type: "aiwr_start", prompt, agent, model: typeof model === "string" ? model : null };
}

export function parentOf(value: unknown): string | undefined {
  if (!isRecord(value) || value["type"] !== "aiwr_meta") return undefined;
  return typeof value["parent_id"] === "string" ? value["parent_id"] : undefined;
}
