/**
 * The table of settings: their names, their kinds of values, and the layers that may set them. Every hook loads this
 * file, so it is a plain table; the descriptions are in describe.ts, the strict schema is in schema.ts.
 */
import type { RepositoryRule } from "./repository.ts";

type ValueKind = "boolean" | "text" | "number" | "size" | "list" | "rules";

export interface Key {
  /** A dotted name; `*` matches any name that the user chooses. */
  name: string;
  kind: ValueKind;
  choices?: readonly string[];
  /** The minimum value. */
  least?: number;
  /** How far a file in the work tree may change the setting; without a rule, not at all. */
  repository?: RepositoryRule;
  /** Only the user's file and the environment may set it, because agents are also looked up outside of repositories. */
  userOnly?: true;
  /**
   * We set the environment variable of this name for an agent, to pass context to its hooks. If it were read as a
   * setting, an agent started by another agent would be recorded as the other agent.
   */
  noVariable?: true;
}

export const KEYS: readonly Key[] = [
  { name: "enabled", kind: "boolean" },
  { name: "agent", kind: "text", noVariable: true },
  { name: "project_root", kind: "text", noVariable: true },
  { name: "transcript_path", kind: "text", noVariable: true },
  { name: "transcript_paths", kind: "list" },
  { name: "default_agent", kind: "text", repository: { may: "choose" } },
  { name: "external_agents", kind: "list", userOnly: true },
  {
    name: "strategy",
    kind: "text",
    choices: ["manual-commit", "auto-commit"],
    repository: { may: "lower", order: ["manual-commit", "auto-commit"] },
  },
  { name: "tier", kind: "text", repository: { may: "choose", from: ["minimal", "balanced", "aggressive"] } },
  { name: "tiers.*", kind: "rules" },
  { name: "capture.max_file_size", kind: "size", least: 0 },
  { name: "capture.max_tracked_size", kind: "size", least: 0 },
  { name: "capture.exclude", kind: "list" },
  { name: "capture.include", kind: "list" },
  { name: "retention.days", kind: "number", least: 1 },
  { name: "retention.max_size", kind: "size", least: 0 },
  { name: "retention.conversations", kind: "size", least: 0 },
  { name: "push.enabled", kind: "boolean", repository: { may: "lower", order: [false, true] } },
  { name: "push.remote", kind: "text" },
  { name: "push.timeout", kind: "number", least: 1 },
  {
    name: "push.unasked",
    kind: "text",
    choices: ["warn", "refuse"],
    repository: { may: "lower", order: ["refuse", "warn"] },
  },
  {
    name: "checkpoints.branch",
    kind: "text",
    choices: ["auto", "public", "private"],
    repository: { may: "lower", order: ["private", "auto", "public"] },
  },
  { name: "auto_commit.protected", kind: "list", repository: { may: "add" } },
  {
    name: "commit_linking",
    kind: "text",
    choices: ["always", "prompt", "never"],
    repository: { may: "lower", order: ["never", "prompt", "always"] },
  },
  { name: "notify_agents", kind: "boolean" },
  { name: "scope.exclude", kind: "list", userOnly: true },
  { name: "redaction.rules", kind: "list", repository: { may: "add" } },
  { name: "redaction.allow", kind: "list" },
  { name: "search.native", kind: "boolean", userOnly: true },
  { name: "mcp.apply", kind: "text", choices: ["command", "ask"] },
  { name: "run.agents.*.model", kind: "text" },
  { name: "run.agents.*.args", kind: "list" },
  { name: "checks.command", kind: "list" },
  { name: "checks.link", kind: "list" },
  { name: "checks.copy", kind: "list" },
  { name: "checks.timeout", kind: "number", least: 1 },
  { name: "summarise.agent", kind: "text" },
  {
    name: "log_level",
    kind: "text",
    choices: ["error", "warn", "info", "debug"],
    // A repository may only increase logging: the log is how the user learns about failures.
    repository: { may: "lower", order: ["debug", "info", "warn", "error"] },
  },
];

/** Files, commands and the environment may also use the American spelling of this group. */
const ALIAS = { group: "summarize", name: "summarise" };

/** The name in the table for a dotted name that may be spelled the other way. */
export function canonicalName(name: string): string {
  const [group, ...rest] = name.split(".");
  return group === ALIAS.group ? [ALIAS.name, ...rest].join(".") : name;
}

/** Every spelling of a dotted name, the one in the table first. */
export function spellingsOf(name: string): string[] {
  const [group, ...rest] = name.split(".");
  return group === ALIAS.name ? [name, [ALIAS.group, ...rest].join(".")] : [name];
}

/** Finds the key for a dotted name, matching wildcards. */
export function findKey(name: string): Key | undefined {
  const parts = name.split(".");
  return KEYS.find((key) => matches(key.name.split("."), parts) && key.name.split(".").length === parts.length);
}

/** True if a dotted name is a prefix of some key, such as `capture`. */
export function isGroup(name: string): boolean {
  const parts = name.split(".");
  return KEYS.some((key) => key.name.split(".").length > parts.length && matches(key.name.split("."), parts));
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  return parts.every((part, i) => pattern[i] === part || (pattern[i] === "*" && isName(part)));
}

/** User-chosen names become object keys, so reject names that could reach a prototype. */
function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text) && text !== "constructor" && text !== "prototype";
}

/**
 * The environment variables of a key without wildcards: `capture.max_file_size` → BACKTRAIL_CAPTURE_MAX_FILE_SIZE. More
 * than one only where the name has several spellings.
 */
export function variablesOf(key: Key): string[] {
  if (key.noVariable || key.name.includes("*")) return [];
  return spellingsOf(key.name).map((name) => `BACKTRAIL_${name.replaceAll(".", "_").toUpperCase()}`);
}
