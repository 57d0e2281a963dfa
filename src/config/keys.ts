/**
 * The settings that exist: their names, what values they take, and where they may come from. Loaded by every
 * hook, so it is a plain table; the words for people are in describe.ts, the strict schema in schema.ts.
 */
export type ValueKind = "boolean" | "text" | "number" | "size" | "list" | "rules";

export interface Key {
  /** Dotted; `*` stands for a name of the user's choosing. */
  name: string;
  kind: ValueKind;
  choices?: readonly string[];
  /** Least number that makes sense. */
  least?: number;
  /**
   * Can start a program, lets something leave the machine, or makes us read a file: counts only from the
   * user's own files and the environment, never from a file that git tracks.
   */
  guarded?: true;
  /** Counts only from the user's own file and the environment: agents are asked for outside of repositories, too. */
  userOnly?: true;
  /**
   * The variable of this name is written by ourselves into an agent's environment, where it tells a hook its
   * context. Read as a setting, it would force an agent that was started by another agent to be recorded as it.
   */
  noVariable?: true;
}

export const KEYS: readonly Key[] = [
  { name: "enabled", kind: "boolean" },
  { name: "agent", kind: "text", noVariable: true },
  { name: "project_root", kind: "text", guarded: true, noVariable: true },
  { name: "transcript_path", kind: "text", guarded: true, noVariable: true },
  { name: "default_agent", kind: "text" },
  { name: "external_agents", kind: "list", guarded: true, userOnly: true },
  { name: "strategy", kind: "text", choices: ["manual-commit", "auto-commit"] },
  { name: "tier", kind: "text" },
  { name: "tiers.*", kind: "rules" },
  { name: "capture.max_file_size", kind: "size", least: 0 },
  { name: "capture.exclude", kind: "list" },
  { name: "retention.days", kind: "number", least: 1 },
  { name: "retention.max_size", kind: "size", least: 0 },
  { name: "push.enabled", kind: "boolean", guarded: true },
  { name: "push.remote", kind: "text", guarded: true },
  { name: "push.timeout", kind: "number", least: 1 },
  { name: "auto_commit.protected", kind: "list" },
  { name: "commit_linking", kind: "text", choices: ["always", "prompt", "never"] },
  { name: "redaction.rules", kind: "list" },
  { name: "redaction.allow", kind: "list", guarded: true },
  { name: "run.agents.*.model", kind: "text", guarded: true },
  { name: "run.agents.*.args", kind: "list", guarded: true },
  { name: "summarise.agent", kind: "text", guarded: true },
  { name: "log_level", kind: "text", choices: ["error", "warn", "info", "debug"] },
];

/** The key that a dotted name means, with its wildcard filled, or undefined. */
export function findKey(name: string): Key | undefined {
  const parts = name.split(".");
  return KEYS.find((key) => matches(key.name.split("."), parts) && key.name.split(".").length === parts.length);
}

/** Whether a dotted name stands above some key, as `capture` does. */
export function isGroup(name: string): boolean {
  const parts = name.split(".");
  return KEYS.some((key) => key.name.split(".").length > parts.length && matches(key.name.split("."), parts));
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  return parts.every((part, i) => pattern[i] === part || (pattern[i] === "*" && isName(part)));
}

/** Names chosen by users become keys of objects: nothing that could reach a prototype. */
function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text) && text !== "constructor" && text !== "prototype";
}

/** The environment variable of a key without wildcards: `capture.max_file_size` → BACKTRAIL_CAPTURE_MAX_FILE_SIZE. */
export function variableOf(key: Key): string | undefined {
  if (key.noVariable || key.name.includes("*")) return undefined;
  return `BACKTRAIL_${key.name.replaceAll(".", "_").toUpperCase()}`;
}
