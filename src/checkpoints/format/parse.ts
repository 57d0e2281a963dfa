/**
 * Parses the format's JSON files, which are untrusted input, and never throws: a field of the wrong type counts as
 * absent, lists and texts are bounded, and only a meaningless file is refused, with the reason.
 */

import { isCommandWord } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import type { Tokens } from "../../model/tokens.ts";
import { asBuffer } from "../../transcripts/lines.ts";
import type { FormatDefect } from "../problems.ts";
import {
  type BacktrailRecord,
  type CheckpointSummary,
  type CodeLearning,
  type FileAttribution,
  type InitialAttribution,
  isCheckpointName,
  LINE_MARK_LENGTH,
  type LineRange,
  type RecordedStep,
  type SessionMetadata,
  type SessionPaths,
  type Summary,
  type TaskCheckpoint,
  type TokenUsage,
  UNKNOWN_AGENT,
} from "./layout.ts";

export type Parsed<T> = { ok: true; value: T } | { ok: false; reason: FormatDefect };

const MAX_LIST = 100_000;
const MAX_TEXT = 1 << 20;
const MAX_USAGE_DEPTH = 4;
const MAX_MODELS = 100;

type Fields = Record<string, unknown>;

export function parseSummary(data: Uint8Array): Parsed<CheckpointSummary> {
  return parsed(data, (fields) => {
    const id = textOf(fields.checkpoint_id);
    if (!isCheckpointName(id)) return refused("invalid-checkpoint-id");
    if (fields.sessions !== undefined && fields.sessions !== null && !Array.isArray(fields.sessions))
      return refused("sessions-not-a-list");
    return accepted<CheckpointSummary>({
      cli_version: textOf(fields.cli_version),
      checkpoint_id: id,
      strategy: textOf(fields.strategy),
      ...present("branch", optionalText(fields.branch)),
      checkpoints_count: countOf(fields.checkpoints_count),
      files_touched: textsOf(fields.files_touched),
      sessions: listOf(fields.sessions).map((session) => pathsOf(fieldsOf(session))),
      ...present("token_usage", usageOf(fields.token_usage)),
      ...present("token_usage_version", optionalCount(fields.token_usage_version)),
      ...present("imported", fields.imported === true ? true : undefined),
      ...present("commit_sha", commitOf(fields.commit_sha)),
    });
  });
}

export function parseSessionMetadata(data: Uint8Array): Parsed<SessionMetadata> {
  return parsed(data, (fields) => {
    const session = textOf(fields.session_id);
    if (session === "") return refused("no-session-id");
    if (!isCommandWord(session)) return refused("invalid-session-id");
    const start = optionalCount(fields.checkpoint_transcript_start) ?? optionalCount(fields.transcript_lines_at_start);
    return accepted<SessionMetadata>({
      cli_version: textOf(fields.cli_version),
      checkpoint_id: textOf(fields.checkpoint_id),
      session_id: session,
      strategy: textOf(fields.strategy),
      created_at: textOf(fields.created_at),
      ...present("branch", optionalText(fields.branch)),
      checkpoints_count: countOf(fields.checkpoints_count),
      ...present("save_step_count", optionalCount(fields.save_step_count)),
      files_touched: textsOf(fields.files_touched),
      agent: optionalText(fields.agent) ?? UNKNOWN_AGENT,
      ...present("model", optionalText(fields.model)),
      ...present("turn_id", optionalText(fields.turn_id)),
      ...present("is_task", typeof fields.is_task === "boolean" ? fields.is_task : undefined),
      ...present("tool_use_id", optionalText(fields.tool_use_id)),
      ...present("transcript_identifier_at_start", optionalText(fields.transcript_identifier_at_start)),
      ...present("checkpoint_transcript_start", start),
      ...present("transcript_lines_at_start", optionalCount(fields.transcript_lines_at_start)),
      ...present("token_usage", usageOf(fields.token_usage)),
      ...present("model_usage", modelUsageOf(fields.model_usage)),
      ...present("commit_sha", commitOf(fields.commit_sha)),
      ...present("summary", summaryIn(fields.summary)),
      ...present("initial_attribution", initialAttributionOf(fields.initial_attribution)),
      ...present("transcript_path", optionalText(fields.transcript_path)),
    });
  });
}

/** Accepts either of a task's two files; fields that only the other file has are empty. */
export function parseTask(data: Uint8Array): Parsed<TaskCheckpoint> {
  return parsed(data, (fields) =>
    accepted<TaskCheckpoint>({
      session_id: textOf(fields.session_id),
      tool_use_id: textOf(fields.tool_use_id),
      checkpoint_uuid: textOf(fields.checkpoint_uuid),
      ...present("agent_id", optionalText(fields.agent_id)),
    }),
  );
}

export function parseBacktrailRecord(data: Uint8Array): Parsed<BacktrailRecord> {
  return parsed(data, (fields) => {
    if (fields.v !== 1) return refused("newer-version");
    return accepted<BacktrailRecord>({
      v: 1,
      session: textOf(fields.session),
      agent: textOf(fields.agent),
      steps: listOf(fields.steps).map((step) => recordedStepOf(fieldsOf(step))),
      attribution: listOf(fields.attribution).map((file) => fileAttributionOf(fieldsOf(file))),
    });
  });
}

/** Returns the raw fields without validation; empty if the data is not an object. */
export function fieldsIn(data: Uint8Array): Fields {
  try {
    return fieldsOf(JSON.parse(asBuffer(data).toString("utf8")));
  } catch {
    return {};
  }
}

function parsed<T>(data: Uint8Array, read: (fields: Fields) => Parsed<T>): Parsed<T> {
  let value: unknown;
  try {
    value = JSON.parse(asBuffer(data).toString("utf8"));
  } catch {
    return refused("not-json");
  }
  if (!isRecord(value)) return refused("not-an-object");
  return read(value);
}

function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

function refused(reason: FormatDefect): { ok: false; reason: FormatDefect } {
  return { ok: false, reason };
}

function pathsOf(fields: Fields): SessionPaths {
  return {
    metadata: textOf(fields.metadata),
    ...present("transcript", optionalText(fields.transcript)),
    ...present("context", optionalText(fields.context)),
    ...present("content_hash", optionalText(fields.content_hash)),
    prompt: textOf(fields.prompt),
  };
}

function usageOf(value: unknown, depth = 0): TokenUsage | undefined {
  if (typeof value !== "object" || value === null || depth > MAX_USAGE_DEPTH) return undefined;
  const fields = fieldsOf(value);
  return {
    input_tokens: countOf(fields.input_tokens),
    cache_creation_tokens: countOf(fields.cache_creation_tokens),
    cache_read_tokens: countOf(fields.cache_read_tokens),
    output_tokens: countOf(fields.output_tokens),
    api_call_count: countOf(fields.api_call_count),
    ...present("subagent_tokens", usageOf(fields.subagent_tokens, depth + 1)),
  };
}

/** Accepts a map by model, or a list of entries that name their model. */
function modelUsageOf(value: unknown): Record<string, TokenUsage> | undefined {
  const entries: [string, unknown][] = Array.isArray(value)
    ? listOf(value).map((entry) => [textOf(fieldsOf(entry).model), fieldsOf(entry).token_usage ?? entry])
    : Object.entries(fieldsOf(value)).slice(0, MAX_MODELS);
  const usage = entries.flatMap(([model, used]) => {
    const counted = model === "" ? undefined : usageOf(used);
    return counted ? [[model.slice(0, 200), counted] as const] : [];
  });
  return usage.length > 0 ? Object.fromEntries(usage) : undefined;
}

function commitOf(value: unknown): string | undefined {
  const text = optionalText(value);
  return text !== undefined && /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
}

export function summaryIn(value: unknown): Summary | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = fieldsOf(value);
  const learnings = fieldsOf(fields.learnings);
  return {
    intent: textOf(fields.intent),
    outcome: textOf(fields.outcome),
    learnings: {
      repo: textsOf(learnings.repo),
      code: listOf(learnings.code).map((learning) => learningOf(fieldsOf(learning))),
      workflow: textsOf(learnings.workflow),
    },
    friction: textsOf(fields.friction),
    open_items: textsOf(fields.open_items),
  };
}

function learningOf(fields: Fields): CodeLearning {
  return {
    path: textOf(fields.path),
    ...present("line", optionalCount(fields.line)),
    ...present("end_line", optionalCount(fields.end_line)),
    finding: textOf(fields.finding),
  };
}

function initialAttributionOf(value: unknown): InitialAttribution | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = fieldsOf(value);
  const percentage = typeof fields.agent_percentage === "number" ? fields.agent_percentage : 0;
  return {
    calculated_at: textOf(fields.calculated_at),
    agent_lines: countOf(fields.agent_lines),
    human_added: countOf(fields.human_added),
    human_modified: countOf(fields.human_modified),
    human_removed: countOf(fields.human_removed),
    total_committed: countOf(fields.total_committed),
    agent_percentage: Math.min(100, Math.max(0, percentage)),
    ...present("metric_version", optionalCount(fields.metric_version)),
  };
}

function recordedStepOf(fields: Fields): RecordedStep {
  return {
    id: textOf(fields.id),
    kind: textOf(fields.kind),
    turn: countOf(fields.turn),
    time: textOf(fields.time),
    prompt: optionalText(fields.prompt) ?? null,
    response: optionalText(fields.response) ?? null,
    files: textsOf(fields.files),
    ...present("model", optionalText(fields.model)),
    ...present("tokens", tokensOf(fields.tokens)),
    ...present("apiCalls", optionalCount(fields.apiCalls)),
    ...(typeof fields.usd === "number" && fields.usd >= 0 ? { usd: fields.usd } : {}),
  };
}

function tokensOf(value: unknown): Tokens | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { input, output, cacheRead, cacheWrite } = fieldsOf(value);
  return {
    input: countOf(input),
    output: countOf(output),
    cacheRead: countOf(cacheRead),
    cacheWrite: countOf(cacheWrite),
  };
}

function fileAttributionOf(fields: Fields): FileAttribution {
  const ranges: LineRange[] = [];
  for (const range of listOf(fields.ranges).map(fieldsOf)) {
    const marks = textOf(range.marks);
    if (!/^[0-9a-f]+$/.test(marks) || marks.length % LINE_MARK_LENGTH !== 0) continue;
    ranges.push({ start: Math.max(1, countOf(range.start)), turn: countOf(range.turn), marks });
  }
  return { path: textOf(fields.path), blob: textOf(fields.blob), ranges };
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST) : [];
}

function textOf(value: unknown): string {
  return optionalText(value) ?? "";
}

function optionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT) : undefined;
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((item): item is string => typeof item === "string");
}

function countOf(value: unknown): number {
  return optionalCount(value) ?? 0;
}

function optionalCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Omits an absent field instead of setting it to undefined. */
function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
