/**
 * The settings' strict schema: what a whole file must look like, down to the rules of a tier. `config` and `doctor`
 * hold files against it, and the JSON Schema for editors is made from it. Never loaded while a hook runs.
 */
import { en } from "zod/locales";
import * as z from "zod/mini";
import { parseSize } from "./values.ts";

const text = z.string().check(z.minLength(1));
const texts = z.array(z.string());
const size = z.union([
  z.int().check(z.nonnegative()),
  z.string().check(z.refine((value) => parseSize(value) !== undefined, 'must be a size such as "50 MB"')),
]);

const rule = z.strictObject({
  on: z.enum([
    "SessionStart",
    "TurnStart",
    "TurnEnd",
    "Compaction",
    "SessionEnd",
    "SubagentStart",
    "SubagentEnd",
    "ToolStart",
    "ToolEnd",
  ]),
  tools: z.optional(z.array(z.enum(["write", "shell", "task", "todo", "read", "other"])).check(z.minLength(1))),
  destructive: z.optional(z.boolean()),
  min_interval: z.optional(z.number().check(z.nonnegative())),
});

export const tierSchema = z.strictObject({ rules: z.array(rule) });

const run = z.strictObject({ model: z.optional(text), args: z.optional(texts) });
const name = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/));

export const configSchema = z.strictObject({
  $schema: z.optional(z.string()),
  enabled: z.optional(z.boolean()),
  agent: z.optional(text),
  project_root: z.optional(text),
  transcript_path: z.optional(text),
  default_agent: z.optional(text),
  external_agents: z.optional(texts),
  strategy: z.optional(z.enum(["manual-commit", "auto-commit"])),
  tier: z.optional(text),
  tiers: z.optional(z.record(name, tierSchema)),
  capture: z.optional(z.strictObject({ max_file_size: z.optional(size), exclude: z.optional(texts) })),
  retention: z.optional(z.strictObject({ days: z.optional(z.int().check(z.positive())), max_size: z.optional(size) })),
  push: z.optional(
    z.strictObject({
      enabled: z.optional(z.boolean()),
      remote: z.optional(text),
      timeout: z.optional(z.int().check(z.positive())),
    }),
  ),
  auto_commit: z.optional(z.strictObject({ protected: z.optional(texts) })),
  commit_linking: z.optional(z.enum(["always", "prompt", "never"])),
  redaction: z.optional(z.strictObject({ rules: z.optional(texts), allow: z.optional(texts) })),
  run: z.optional(z.strictObject({ agents: z.optional(z.record(name, run)) })),
  summarise: z.optional(z.strictObject({ agent: z.optional(text) })),
  log_level: z.optional(z.enum(["error", "warn", "info", "debug"])),
});

/** What is wrong with a tier of the user's own, one sentence each; none where it is right. */
export function tierProblems(tier: unknown): string[] {
  z.config(en());
  const result = z.safeParse(tierSchema, tier);
  if (result.success) return [];
  return result.error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
}

export function configJsonSchema(): Record<string, unknown> {
  return { title: "Backtrail settings", ...z.toJSONSchema(configSchema) };
}
