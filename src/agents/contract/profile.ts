/**
 * The profile of an agent: a JSON file that describes the agent without code. The schema in `schema.ts` is the one
 * definition of its keys; this file has the types that follow from it, and what a hook needs to know of a profile.
 */
import { isRecord } from "../../base/json.ts";
import type { Profile } from "./schema.ts";

export type { ConditionalEvent, FieldName, HooksSection, ScoreRule, SettingsFile } from "./schema/hooks.ts";
export type { McpSection } from "./schema/mcp.ts";
export type { RunSection, StreamRule, StreamSection } from "./schema/run.ts";
export type { ItemPaths, LineRule, LinesSection, Spelling, TranscriptSection } from "./schema/transcript.ts";
export type { Condition, Conditions, Scalar, TokenPaths } from "./schema/values.ts";
export type { Profile } from "./schema.ts";

type Hooks = NonNullable<Profile["hooks"]>;
export type Scope = keyof Hooks["settings"];
export type Borrower = NonNullable<Hooks["borrowed_by"]>[number];
/** How a reply to a prompt's hook carries text for the model. */
export type ContextReply = NonNullable<Hooks["context_reply"]>;

/**
 * Checks only the profile's skeleton, so that code can read it safely. The schema explains what is wrong with a
 * profile; a hook only needs to know whether the profile is usable.
 */
export function isProfile(value: unknown): value is Profile {
  if (!isRecord(value) || (value["v"] !== 1 && value["v"] !== 2) || !isAgentId(value["id"])) return false;
  if (typeof value["display_name"] !== "string" || !Array.isArray(value["protected_dirs"])) return false;
  const hooks = value["hooks"];
  if (hooks === undefined) return true;
  if (!isRecord(hooks)) return false;
  return ["settings", "install", "fields", "events", "tools"].every((part) => isRecord(hooks[part]));
}

/** Ids become file names and arguments, so only lowercase letters, digits and hyphens are allowed. */
export function isAgentId(value: unknown): value is string {
  return typeof value === "string" && value.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value);
}
