/**
 * The public checkpoint format v1: where its files lie and what they hold. Field names are the format's own. What is
 * parsed here may come from anybody's remote: parsing never throws, drops what it cannot use and says why it refuses.
 */
import { digest, hexDigest } from "../base/digest.ts";

export const CHECKPOINT_BRANCH = "refs/heads/entire/checkpoints/v1";
/** The newer layout: one ref a checkpoint, `<prefix>/<last two>/<id>`; new ids are ULIDs. Read, never written. */
export const CHECKPOINT_REFS = "refs/entire/checkpoints";

export const METADATA_FILE = "metadata.json";
/** The first chunk; transcripts/chunks.ts names the others. */
export const TRANSCRIPT_FILE = "full.jsonl";
/** What the newer layout calls a compact transcript. */
export const COMPACT_TRANSCRIPT_FILE = "transcript.jsonl";
export const PROMPT_FILE = "prompt.txt";
export const CONTEXT_FILE = "context.md";
export const CONTENT_HASH_FILE = "content_hash.txt";
export const TASKS_DIRECTORY = "tasks";
export const TASK_FILE = "checkpoint.json";
/** Newer readers look for this one instead. */
export const TASK_RECORD_FILE = "task.json";
/** Ours, beside the format's files of a session. */
export const BACKTRAIL_FILE = "backtrail.json";
/** Ours, beside the sessions of a checkpoint. */
export const LINKS_FILE = "backtrail-links.json";

export const CHECKPOINT_TRAILER = "Entire-Checkpoint";
export const SESSION_TRAILER = "Entire-Session";
export const STRATEGY_TRAILER = "Entire-Strategy";
export const AGENT_TRAILER = "Entire-Agent";

export const PROMPT_SEPARATOR = "\n\n---\n\n";
/** The display name where an agent is unknown. */
export const UNKNOWN_AGENT = "Agent";

export interface TokenUsage {
  input_tokens: number;
  cache_creation_tokens: number;
  cache_read_tokens: number;
  output_tokens: number;
  api_call_count: number;
  subagent_tokens?: TokenUsage;
}

/** Paths from the tree's root; each begins with a slash. A file that is not there has none. */
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
  /** Absent when HEAD was detached. */
  branch?: string;
  checkpoints_count: number;
  files_touched: string[];
  sessions: SessionPaths[];
  token_usage?: TokenUsage;
}

export interface InitialAttribution {
  calculated_at: string;
  agent_lines: number;
  human_added: number;
  human_modified: number;
  human_removed: number;
  total_committed: number;
  agent_percentage: number;
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
  /** Turns whose steps were saved. A reader takes a session without them for one that was only found at the commit. */
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
  /** The older name of the same. */
  transcript_lines_at_start?: number;
  token_usage?: TokenUsage;
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
  /** As in the name of the conversation beside it. */
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

/** `<path>/<n>/backtrail.json`: what the format has no field for. */
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
  /** What the agent said last, redacted. */
  response: string | null;
  files: string[];
}

/** Which lines of a committed file came from which turn of this session. Lines not named are somebody else's. */
export interface FileAttribution {
  path: string;
  /** Object id of the file as it was committed. */
  blob: string;
  ranges: LineRange[];
}

export interface LineRange {
  /** The first line is 1. */
  start: number;
  turn: number;
  /** One `lineMark` a line, so that a line is known again after a rebase moved it. */
  marks: string;
}

export const LINE_MARK_LENGTH = 8;

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

/** Also a checkpoint of the newer layout, which is named by a ULID. */
export function isCheckpointName(text: string): boolean {
  return isCheckpointId(text) || /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(text);
}

export function newCheckpointId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex");
}

/** A checkpoint's directory, without slashes around it. */
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

export function taskPath(id: string, toolUseId: string): string {
  return `${checkpointPath(id)}/${TASKS_DIRECTORY}/${safeName(toolUseId)}`;
}

/** A name that can stand in a tree, and that readers of the format accept, whatever an agent called it. */
export function safeName(text: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/.test(text)) return text;
  return `x-${digest("sha256", text).toString("hex").slice(0, 24)}`;
}

/** Of the whole reassembled transcript. */
export function contentHash(...parts: (string | Uint8Array)[]): string {
  return `sha256:${hexDigest("sha256", ...parts)}`;
}

/** JSON as this format's files are written: two spaces, a newline at the end. */
export function layoutJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
