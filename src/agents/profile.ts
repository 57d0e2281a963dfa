/**
 * A profile: what can be said about an agent without code. One JSON file per agent; docs/formats/profile.md
 * specifies it, `schema.ts` checks it when it is built in, installed or tried, never while a hook runs.
 */
import type { EntryType } from "../transcripts/model.ts";
import type { EventType, ToolKind } from "./event.ts";

export interface Profile {
  v: 1;
  id: string;
  display_name: string;
  description?: string;
  /** Works, but has not been proven against the real agent. */
  preview?: boolean;
  /** Other names a person may type, such as `claude`. */
  short_names?: string[];
  /** The agent's program, looked for on PATH. */
  executable?: string;
  detection: Detection;
  env?: EnvironmentNames;
  hooks?: HooksSection;
  transcript?: TranscriptSection;
  /** Directories in the repository that a restore never touches. */
  protected_dirs: string[];
  /** The command that continues a session; `{session}` stands for its id. */
  resume?: string[];
  /** The command that begins a session with a prompt; `{prompt}` stands for it, as a word of its own. */
  start?: string[];
  run?: RunSection;
  tested_versions: string[];
}

export interface Detection {
  min_score: number;
  score_rules: ScoreRule[];
}

/** A rule holds when all of its conditions do; it has at least one. */
export interface ScoreRule {
  score: number;
  /** A JSON path that the payload has. */
  path_exists?: string;
  /** A JSON path whose string matches the regular expression. */
  path_matches?: { path: string; regex: string };
  /** An environment variable that is set and not empty. */
  env_exists?: string;
  /** A directory of the repository, from its root. */
  dir_exists?: string;
}

/** Names of environment variables that the agent sets for its hooks, the first that is set counts. */
export interface EnvironmentNames {
  project_dir?: string[];
  env_file?: string[];
  session_id?: string[];
  pid?: string[];
}

export type Scope = "local" | "project" | "user";
/** How the file lists hooks; docs/formats/profile.md. */
export type SettingsFormat = "claude-settings" | "gemini-settings" | "cursor-hooks" | "own-file";

export interface HooksSection {
  /** The agent's settings file for each scope that it has. */
  settings: Partial<Record<Scope, SettingsFile>>;
  /** What is installed: the agent's own event name → how we are called for it. */
  install: Record<string, InstalledHook>;
  /** Other agents that run these hooks as if they were their own. */
  borrowed_by?: Borrower[];
  /** What the user has to do before the agent runs new hooks, as a sentence. */
  review?: string;
  /** Where the payload has each canonical field: paths, the first that is found counts. */
  fields: FieldPaths;
  /** The agent's own event names → canonical ones. What is not here is acknowledged and ignored. */
  events: Record<string, EventType>;
  /** The agent's tool names → kinds. What is not here is `other`. */
  tools: Record<string, ToolKind>;
}

export interface SettingsFile {
  /** From the repository's root, or from the user's home directory for the scope `user`. */
  path: string;
  format: SettingsFormat;
  /** A variable that moves the directory the file is in, and the file's path from there. */
  moved_by?: { env: string; path: string };
}

/** How a payload shows that it comes from another agent than the one whose hooks these are. */
export interface Borrower {
  agent: string;
  /** Paths that only the other agent's payloads have. */
  payload?: string[];
  /** Variables that it sets; they count where the payload isn't plainly the first agent's own. */
  env?: string[];
}

export interface InstalledHook {
  verb: string;
  matcher?: string;
  /** Seconds. */
  timeout?: number;
}

export type FieldName =
  | "event"
  | "session_id"
  | "previous_session_id"
  | "cwd"
  | "project_root"
  | "transcript_path"
  | "timestamp"
  | "prompt"
  | "model"
  | "response"
  | "tool_name"
  | "tool_input"
  | "tool_use_id"
  | "tool_command"
  | "tool_paths"
  | "subagent_id"
  | "subagent_type"
  | "subagent_description"
  | "subagent_prompt"
  | "subagent_transcript_path";

export type FieldPaths = Partial<Record<FieldName, string[]>>;

export interface TranscriptSection {
  format: "jsonl" | "json";
  /** Where transcripts are, from the user's home directory. */
  directory: string;
  /** The field of an entry that holds its id. */
  id_field?: string;
  title_prefix: string;
  /** A line is this agent's if it has all paths of one of these groups, whatever their values. */
  recognised_by: string[][];
  /** What a line holds, for an agent without code of its own; JSONL only. */
  lines?: LinesSection;
  /** The agent continues a copy of a transcript, cut and under a new id, as if it were a session of its own. */
  fork?: boolean;
}

/** Where a line, or a block of one, has what. */
export interface ItemPaths {
  /** The name that `types` is about. */
  type?: string[];
  text?: string[];
  tool_name?: string[];
  tool_use_id?: string[];
  tool_input?: string[];
  /** Every path that is found counts; each may lead to a list. */
  file_paths?: string[];
}

export interface LinesSection extends ItemPaths {
  /** What the agent calls its lines and blocks → what they are. Others are passed over. */
  types: Record<string, EntryType>;
  /** For lines that hold a list: where it is, and what each of its members has. */
  blocks?: ItemPaths & { at: string[] };
  id?: string[];
  /** Written anew in a copy. */
  session_id?: string[];
  time?: string[];
  model?: string[];
  /** Written anew in a copy. */
  title?: string[];
  tokens?: TokenPaths;
  /** Lines with the same one tell of the same tokens. */
  message_id?: string[];
}

export interface TokenPaths {
  input?: string[];
  output?: string[];
  cache_read?: string[];
  cache_write?: string[];
  /** What is told as input has the cache's tokens in it. */
  input_has_cache?: boolean;
}

/** How the agent is run without a terminal; read by `run`. */
export interface RunSection {
  /** What runs call the agent, such as `claude`; its id where this is not given. */
  name?: string;
  /**
   * The words after the program. `{prompt}` stands for the prompt; a word that is nothing but `{model}`, `{session}`,
   * `{context}` or `{args}` stands for the words below, or for none.
   */
  command: string[];
  /** The prompt comes on standard input, and nowhere in the command. */
  stdin?: boolean;
  model?: RunModel;
  /** The words that continue a session. */
  resume?: string[];
  new_session?: NewSession;
  /** The words that put text before the conversation; without them it stands before the prompt. */
  context?: string[];
  /**
   * The words after the program for a question of ours (a summary): nothing it could change, nothing kept of it. `{prompt}`
   * and `{model}` as above. Without them the agent isn't asked.
   */
  ask?: string[];
  stream: StreamSection;
}

export interface RunModel {
  words: string[];
  /** Every spelling of the flag, so that one after `--` is known. */
  flags: string[];
  /** Where nobody says which; without it the agent chooses. */
  default?: string;
}

/** How a new session gets an id of our choosing. */
export interface NewSession {
  words: string[];
  /** Words of the user's beside which these can't stand. */
  unless?: string[];
  /** The stream tells the id too late: ours counts from the first line on. */
  at_once?: boolean;
}

/** What the agent prints, one JSON object a line. */
export interface StreamSection {
  /** In the first line that has one of these. */
  session_id: string[];
  /** Only in lines of which this holds. */
  session_when?: Conditions;
  /** The model that answers, in whichever lines have it; the newest counts. */
  model?: string[];
  /** A line may be several things; all rules that hold count, in their order. */
  rules: StreamRule[];
}

/** Paths and what they must lead to: one value, or one of several; null stands for nothing as well. */
export type Conditions = Record<string, Condition | Condition[] | undefined>;
export type Condition = string | number | boolean | null;

export type StreamRuleKind = "prompt" | "message" | "delta" | "tool" | "end" | "failure" | "usage";

export interface StreamRule {
  when: Conditions;
  /** A list in the line: the rule is about each member of which `each` holds, and its paths begin there. */
  in?: string[];
  each?: Conditions;
  is: StreamRuleKind;
  /** Of a prompt, a message, a piece of one, the final answer, or what went wrong. */
  text?: string[];
  /** Of an `end`: otherwise it failed. */
  succeeds_when?: Conditions;
  /** Of a `tool`. */
  name?: string[];
  input?: string[];
  /** Of a `usage`, which is added up, or, if it is a `total`, stands for all before it. */
  tokens?: TokenPaths;
  cost?: string[];
  total?: boolean;
  /** Lines with the same one tell of the same tokens. */
  message_id?: string[];
}

/**
 * The profile's skeleton and nothing more: enough that code which reads it can't trip over its shape. The
 * schema says what is wrong with a profile; a hook only needs to know that it can't be used.
 */
export function isProfile(value: unknown): value is Profile {
  if (!isRecord(value) || value["v"] !== 1 || !isAgentId(value["id"])) return false;
  if (typeof value["display_name"] !== "string" || !Array.isArray(value["protected_dirs"])) return false;
  const hooks = value["hooks"];
  if (hooks === undefined) return true;
  if (!isRecord(hooks)) return false;
  return ["settings", "install", "fields", "events", "tools"].every((part) => isRecord(hooks[part]));
}

/** Ids become file names and arguments, so they hold nothing but small letters, digits and hyphens. */
export function isAgentId(value: unknown): value is string {
  return typeof value === "string" && value.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
