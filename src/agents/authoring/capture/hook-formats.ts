/** The forms of settings that a recording can put its hooks into, and the usual events. Loaded with the command table. */
export const HOOK_FORMATS = [
  "claude-settings",
  "gemini-settings",
  "cursor-hooks",
  "named-hooks",
  "toml-hooks",
  "script-per-event",
] as const;
export type HookFormat = (typeof HOOK_FORMATS)[number];

/** The keys of a hook in TOML, which agents name differently. */
export const HOOK_KEYS = ["event", "command", "name", "matcher", "timeout"] as const;

/** The names that most agents have taken from each other. */
export const COMMON_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Stop",
  "PreCompact",
  "SessionEnd",
] as const;
