/** Defines the records that we write into logs, and the separator between a session's runs. */
import { isRecord } from "../../base/json.ts";

/** Separates two runs of one session. */
export const SEPARATOR = "----------";

export interface StartRecord {
  type: "aiwr_start";
  prompt: string;
  /** The name that runs use, such as `claude`. */
  agent: string;
  /** Null if the agent chooses the model. */
  model: string | null;
}

export interface MetaRecord {
  type: "aiwr_meta";
  parent_id: string;
}

/** Replaces a line that was too long to read. */
export interface DroppedRecord {
  type: "aiwr_dropped";
  bytes: number;
}

/** A line of an agent that prints plain text. */
export interface TextRecord {
  type: "aiwr_text";
  text: string;
}

/** The model that the agent's stream reports, if it differs from the one in the start record. */
export interface ModelRecord {
  type: "aiwr_model";
  model: string;
}

/** The user's tags for finding the run again. */
export interface TagsRecord {
  type: "aiwr_tags";
  tags: string[];
}

/** Records why we stopped the agent. */
export interface StoppedRecord {
  type: "aiwr_stopped";
  reason: StopReason;
}

/** A limit that the user set. */
export type StopReason = "timed-out" | "over-budget";
export type EndStatus = "completed" | "failed" | "interrupted" | StopReason;
export type RunStatus = "running" | EndStatus;

export const END_STATUSES: readonly EndStatus[] = ["completed", "failed", "interrupted", "timed-out", "over-budget"];

export function startOf(value: unknown): StartRecord | undefined {
  if (!isRecord(value) || value["type"] !== "aiwr_start") return undefined;
  const { prompt, agent, model } = value;
  if (typeof prompt !== "string" || typeof agent !== "string") return undefined;
  return { type: "aiwr_start", prompt, agent, model: typeof model === "string" ? model : null };
}

export function tagsOf(value: unknown): string[] {
  if (!isRecord(value) || value["type"] !== "aiwr_tags" || !Array.isArray(value["tags"])) return [];
  return value["tags"].filter((tag): tag is string => typeof tag === "string");
}

export function stopReasonOf(value: unknown): StopReason | undefined {
  if (!isRecord(value) || value["type"] !== "aiwr_stopped") return undefined;
  const { reason } = value;
  return reason === "timed-out" || reason === "over-budget" ? reason : undefined;
}

export function parentOf(value: unknown): string | undefined {
  if (!isRecord(value) || value["type"] !== "aiwr_meta") return undefined;
  return typeof value["parent_id"] === "string" ? value["parent_id"] : undefined;
}
