/**
 * The strict schema of a settings file, including the rules of custom tiers. `config` and `doctor` validate files
 * against it, and the JSON Schema for editors is generated from it. Hooks never load this file.
 */

import { en } from "zod/locales";
import * as z from "zod/mini";
import { EVENT_TYPES, TOOL_KINDS } from "../model/event.ts";
import { parseSize } from "./values.ts";

const text = z.string().check(z.minLength(1));
const texts = z.array(z.string());
const summaries = z.optional(z.strictObject({ agent: z.optional(text) }));
const size = z.union([
  z.int().check(z.nonnegative()),
  z.string().check(z.refine((value) => parseSize(value) !== undefined, 'must be a size such as "50 MB"')),
]);

const rule = z.strictObject({
  on: z.enum(EVENT_TYPES),
  tools: z.optional(z.array(z.enum(TOOL_KINDS)).check(z.minLength(1))),
  destructive: z.optional(z.boolean()),
  min_interval: z.optional(z.number().check(z.nonnegative())),
});

const tierSchema = z.strictObject({ rules: z.array(rule) });

const run = z.strictObject({ model: z.optional(text), args: z.optional(texts) });
const name = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/));

export const configSchema = z.strictObject({
  $schema: z.optional(z.string()),
  enabled: z.optional(z.boolean()),
  agent: z.optional(text),
  project_root: z.optional(text),
  transcript_path: z.optional(text),
  transcript_paths: z.optional(texts),
  default_agent: z.optional(text),
  external_agents: z.optional(texts),
  strategy: z.optional(z.enum(["manual-commit", "auto-commit"])),
  tier: z.optional(text),
  tiers: z.optional(z.record(name, tierSchema)),
  capture: z.optional(
    z.strictObject({
      max_file_size: z.optional(size),
      max_tracked_size: z.optional(size),
      exclude: z.optional(texts),
      include: z.optional(texts),
    }),
  ),
  retention: z.optional(
    z.strictObject({
      days: z.optional(z.int().check(z.positive())),
      max_size: z.optional(size),
      conversations: z.optional(size),
    }),
  ),
  push: z.optional(
    z.strictObject({
      enabled: z.optional(z.boolean()),
      remote: z.optional(text),
      timeout: z.optional(z.int().check(z.positive())),
      unasked: z.optional(z.enum(["warn", "refuse"])),
    }),
  ),
  checkpoints: z.optional(z.strictObject({ branch: z.optional(z.enum(["auto", "public", "private"])) })),
  auto_commit: z.optional(z.strictObject({ protected: z.optional(texts) })),
  commit_linking: z.optional(z.enum(["always", "prompt", "never"])),
  notify_agents: z.optional(z.boolean()),
  scope: z.optional(z.strictObject({ exclude: z.optional(texts) })),
  redaction: z.optional(z.strictObject({ rules: z.optional(texts), allow: z.optional(texts) })),
  search: z.optional(z.strictObject({ native: z.optional(z.boolean()) })),
  mcp: z.optional(z.strictObject({ apply: z.optional(z.enum(["command", "ask"])) })),
  run: z.optional(z.strictObject({ agents: z.optional(z.record(name, run)) })),
  checks: z.optional(
    z.strictObject({
      command: z.optional(texts),
      link: z.optional(texts),
      copy: z.optional(texts),
      timeout: z.optional(z.int().check(z.positive())),
    }),
  ),
  summarise: summaries,
  // The same under its American spelling.
  summarize: summaries,
  log_level: z.optional(z.enum(["error", "warn", "info", "debug"])),
});

/** Returns one text (of zod) per problem of a custom tier; empty if the tier is valid. */
export function tierProblems(tier: unknown): string[] {
  z.config(en());
  const result = z.safeParse(tierSchema, tier);
  if (result.success) return [];
  return result.error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
}

export function configJsonSchema(): Record<string, unknown> {
  return { title: "Backtrail settings", ...z.toJSONSchema(configSchema) };
}
