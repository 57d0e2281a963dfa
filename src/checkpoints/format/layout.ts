/**
 * The public checkpoint format v1: the paths and contents of its files, with the format's own field names. parse.ts
 * parses them.
 */
import { digest, hexDigest } from "../../base/digest.ts";
import type { Tokens } from "../../model/tokens.ts";

export const CHECKPOINT_BRANCH = "refs/heads/entire/checkpoints/v1";
/** The newer layout: one ref per checkpoint, `<prefix>/<last two>/<id>`; new ids are ULIDs. Read, never written. */
export const CHECKPOINT_REFS = "refs/entire/checkpoints";

export const METADATA_FILE = "metadata.json";
/** The first chunk; transcripts/chunks.ts names the others. */
export const TRANSCRIPT_FILE = "full.jsonl";
/** The compact transcript of the newer layout. */
export const COMPACT_TRANSCRIPT_FILE = "transcript.jsonl";
export const PROMPT_FILE = "prompt.txt";
export const CONTEXT_FILE = "context.md";
export const CONTENT_HASH_FILE = "content_hash.txt";
export const TASKS_DIRECTORY = "tasks";
export const TASK_FILE = "checkpoint.json";
/** Newer readers look for this file instead. */
export const TASK_RECORD_FILE = "task.json";
/** Our file, next to the format's files of a session. */
export const BACKTRAIL_FILE = "backtrail.json";
/** Our file, next to the sessions of a checkpoint. */
export const LINKS_FILE = "backtrail-links.json";

export const CHECKPOINT_TRAILER = "Entire-Checkpoint";
export const SESSION_TRAILER = "Entire-Session";
export const STRATEGY_TRAILER = "Entire-Strategy";
export const AGENT_TRAILER = "Entire-Agent";

export const PROMPT_SEPARATOR = "\n\n---\n\n";
export const UNKNOWN_AGENT = "Agent";

export interface TokenUsage {
  input_tokens: number;
  cache_creation_tokens: number;
  cache_read_tokens: number;
  output_tokens: number;
  api_call_count: number;
  subagent_tokens?: TokenUsage;
}

/** Paths from the tree's root, with a leading slash. A missing file has no path. */
export interface SessionPaths {
  metadata: string;
  transcript?: string;
  context?: string;
  content_hash?: string;
  prompt: string;
}

/** `<path>/metadata.json` */
export interface CheckpointSummary {
  cli_version: string;
  checkpoint_id: string;
  strategy: string;
  /** Absent if HEAD was detached. */
  branch?: string;
  checkpoints_count: number;
  files_touched: string[];
  sessions: SessionPaths[];
  token_usage?: TokenUsage;
  /** 2: every session's `token_usage` counts the tokens since that session's last checkpoint. */
  token_usage_version?: number;
  /** True if another tool created the checkpoint from existing history. */
  imported?: boolean;
  /** The commit of an imported checkpoint. */
  commit_sha?: string;
}

export interface InitialAttribution {
  calculated_at: string;
  agent_lines: number;
  human_added: number;
  human_modified: number;
  human_removed: number;
  total_committed: number;
  agent_percentage: number;
  /** How the lines were counted, if stated. */
  metric_version?: number;
}

export interface CodeLearning {
  path: string;
  line?: number;
  end_line?: number;
  finding: string;
}

export interface Summary {
  intent: string;
  outcome: string;
  learnings: { repo: string[]; code: CodeLearning[]; workflow: string[] };
  friction: string[];
  open_items: string[];
}

/** `<path>/<n>/metadata.json` */
export interface SessionMetadata {
  cli_version: string;
  checkpoint_id: string;
  session_id: string;
  strategy: string;
  /** RFC 3339 */
  created_at: string;
  branch?: string;
  checkpoints_count: number;
  /** The number of turns with saved steps. Readers assume that a session without it was only found at the commit. */
  save_step_count?: number;
  files_touched: string[];
  /** Display name */
  agent: string;
  model?: string;
  turn_id?: string;
  is_task?: boolean;
  tool_use_id?: string;
  transcript_identifier_at_start?: string;
  checkpoint_transcript_start?: number;
  /** The older name of `checkpoint_transcript_start`. */
  transcript_lines_at_start?: number;
  token_usage?: TokenUsage;
  /** Usage by model, if another tool reports it. */
  model_usage?: Record<string, TokenUsage>;
  commit_sha?: string;
  summary?: Summary;
  initial_attribution?: InitialAttribution;
  /** Relative to the home directory. */
  transcript_path?: string;
}

/** `<path>/tasks/<tool use id>/checkpoint.json` */
export interface TaskCheckpoint {
  session_id: string;
  tool_use_id: string;
  checkpoint_uuid: string;
  agent_id?: string;
}

/** `<path>/tasks/<tool use id>/task.json` */
export interface TaskRecord {
  tool_use_id: string;
  /** Matches the name of the conversation file next to it. */
  agent_id: string;
  subagent_type?: string;
  /** Redacted */
  task_description?: string;
  files?: string[];
  token_usage?: TokenUsage;
  started_at?: string;
  completed_at: string;
  transcript_unavailable_reason?: string;
}

/** `<path>/<n>/backtrail.json`: data that the format has no fields for. */
export interface BacktrailRecord {
  v: 1;
  session: string;
  /** Registry name */
  agent: string;
  steps: RecordedStep[];
  attribution: FileAttribution[];
}

export interface RecordedStep {
  id: string;
  kind: string;
  turn: number;
  time: string;
  /** Redacted */
  prompt: string | null;
  /** The agent's last message, redacted. */
  response: string | null;
  files: string[];
  /** At a turn's end; absent if unknown, and in records of earlier versions. */
  model?: string;
  tokens?: Tokens;
  apiCalls?: number;
  usd?: number;
}

/** Attributes lines of a committed file to turns of this session. Other lines have other authors. */
export interface FileAttribution {
  path: string;
  /** The object id of the committed file. */
  blob: string;
  ranges: LineRange[];
}

export interface LineRange {
  /** Starts at 1. */
  start: number;
  turn: number;
  /** One `lineMark` per line, to recognize a line after a rebase has moved it. */
  marks: string;
}

export const LINE_MARK_LENGTH = 8;

export const REMOVED = "This conversation was removed with `backtrail forget`.";
/** A single line, so that it is valid as JSON and as JSONL. */
export const REMOVED_TRANSCRIPT = `${JSON.stringify({ type: "backtrail-removed", message: REMOVED })}\n`;

export function isRemovedTranscript(bytes: Uint8Array): boolean {
  return bytes.length === REMOVED_TRANSCRIPT.length && Buffer.from(bytes).toString("utf8") === REMOVED_TRANSCRIPT;
}

/** A short digest of a line's text, without its line ending. */
export function lineMark(line: string): string {
  return hexDigest("sha256", line.replace(/\r$/, "")).slice(0, LINE_MARK_LENGTH);
}

export function lineCount(range: LineRange): number {
  return range.marks.length / LINE_MARK_LENGTH;
}

export function isCheckpointId(text: string): boolean {
  return /^[0-9a-f]{12}$/.test(text);
}

/** Also accepts the ULIDs of the newer layout. */
export function isCheckpointName(text: string): boolean {
  return isCheckpointId(text) || /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(text);
}

export function newCheckpointId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex");
}

/** A checkpoint's directory, without leading or trailing slashes. */
export function checkpointPath(id: string): string {
  if (!isCheckpointId(id)) throw new Error(`"${id}" is not a checkpoint id`);
  return `${id.slice(0, 2)}/${id.slice(2)}`;
}

export function sessionPath(id: string, index: number): string {
  return `${checkpointPath(id)}/${index}`;
}

export function sessionPaths(id: string, index: number, files: { has(name: string): boolean }): SessionPaths {
  const at = (name: string) => (files.has(name) ? `/${sessionPath(id, index)}/${name}` : undefined);
  const [transcript, context, hash] = [TRANSCRIPT_FILE, CONTEXT_FILE, CONTENT_HASH_FILE].map(at);
  return {
    metadata: `/${sessionPath(id, index)}/${METADATA_FILE}`,
    ...(transcript && { transcript }),
    ...(context && { context }),
    ...(hash && { content_hash: hash }),
    prompt: at(PROMPT_FILE) ?? "",
  };
}

/** Converts an agent's name to one that is valid in a tree and accepted by readers of the format. */
export function safeName(text: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/.test(text)) return text;
  return `x-${digest("sha256", text).toString("hex").slice(0, 24)}`;
}

/** Hashes the whole reassembled transcript. */
export function contentHash(...parts: (string | Uint8Array)[]): string {
  return `sha256:${hexDigest("sha256", ...parts)}`;
}

/** Formats JSON as this format's files are written: two spaces, a final newline. */
export function layoutJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
