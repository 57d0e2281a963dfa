/**
 * The schema of a profile: the one definition of its keys. The types follow from it, `agents check`, `enable` and the
 * tests validate profiles with it, and the JSON Schema for editors and the documentation of every key are generated
 * from it. Never loaded while a hook runs.
 */
import { en } from "zod/locales";
import * as z from "zod/mini";
import { commands } from "./schema/commands.ts";
import { explain } from "./schema/explain.ts";
import { detection, environment, hooks } from "./schema/hooks.ts";
import { mcp } from "./schema/mcp.ts";
import { semanticProblems } from "./schema/meaning.ts";
import { run } from "./schema/run.ts";
import { transcript } from "./schema/transcript.ts";
import { insidePath, key, name, optionalKey, program, sentence, word } from "./schema/values.ts";

const reasons = z.strictObject({
  hooks: optionalKey(sentence, "Why its turns are not recorded as they happen.", "It tells nobody what it does."),
  chat: optionalKey(sentence, "Why prompts and answers are not known.", "Its conversations are encrypted."),
  tokens: optionalKey(sentence, "Why tokens are not counted.", "Its transcript has no token counts."),
  rewind: optionalKey(
    sentence,
    "Why its conversation does not go back; `rewind` says it too.",
    "It keeps its sessions in a database of its own.",
  ),
  run: optionalKey(sentence, "Why it can't be run without a terminal.", "It needs a terminal."),
});

const profileSchema = z.strictObject({
  $schema: optionalKey(z.string(), "The JSON Schema, for editors.", "./profile.schema.json"),
  v: key(z.union([z.literal(2), z.literal(1)]), "The version of the format.", 2),
  id: key(word.check(z.maxLength(64)), "Lowercase letters, digits, hyphens: the file's name without `.json`.", "qwen"),
  like: optionalKey(
    word.check(z.maxLength(64)),
    "Another agent whose profile and code this one shares. Only what differs needs to be here; `null` removes a key.",
    "opencode",
  ),
  display_name: key(name, "The name for people.", "Qwen Code"),
  description: optionalKey(name, "One line for people.", "Alibaba's coding agent for the terminal"),
  preview: optionalKey(z.boolean(), "It works, but was not tested against the real agent.", true),
  cannot: optionalKey(reasons, "Why the agent can't do something, for the table of agents.", {
    tokens: "Its transcript has no token counts.",
  }),
  short_names: optionalKey(z.array(word), "Other names that a user may type.", ["claude"]),
  former_names: optionalKey(z.array(name), "Display names in checkpoints of earlier versions.", ["Qwen"]),
  executable: optionalKey(program, "The agent's program, searched on PATH.", "qwen"),
  // Earlier profiles may contain these two keys. Nothing reads them.
  sold_by: optionalKey(word, "Of earlier profiles; nothing reads it.", "somebody"),
  to_do: optionalKey(z.unknown(), "Of earlier profiles; nothing reads it.", "later"),
  detection: key(detection, "How to recognize the agent. The highest score that reaches `min_score` wins.", {
    min_score: 50,
    score_rules: [{ score: 60, path_matches: { path: "$.transcript_path", regex: "/\\.qwen/" } }],
  }),
  env: optionalKey(environment, "Variables that the agent sets for its hooks. The first that is set counts.", {
    project_dir: ["QWEN_PROJECT_DIR"],
  }),
  hooks: optionalKey(hooks, "What its hooks send and where they are installed."),
  mcp: optionalKey(mcp, "How the agent is told to start Backtrail's MCP server."),
  commands: optionalKey(commands, "Where the agent reads commands that a user can type."),
  transcript: optionalKey(transcript, "Where and in which form it keeps conversations."),
  protected_dirs: key(z.array(insidePath), "Directories in the repository that a restore never touches.", [".qwen"]),
  resume: optionalKey(z.array(name).check(z.minLength(1)), "The command that continues a session.", [
    "qwen",
    "--resume",
    "{session}",
  ]),
  start: optionalKey(
    z.array(name).check(z.minLength(2)),
    "The command that starts a session with a prompt; {prompt} is a word of its own.",
    ["qwen", "-i", "{prompt}"],
  ),
  run: optionalKey(run, "How `backtrail run` starts it without a terminal."),
  tested_versions: key(z.array(name), "Versions of the agent that the profile was tested with.", ["0.24.4"]),
});

export type Profile = z.infer<typeof profileSchema>;

/** Describes each problem of a profile, with its location in the file; empty for a valid profile. */
export function problemsOf(value: unknown): string[] {
  // Comparing such a value with a number takes its text, which takes all of the stack.
  if (isTooDeep(value)) return ["the file: nested too deeply"];
  const result = profileSchema.safeParse(value, { error: en().localeError });
  if (!result.success) return explain(result.error.issues, value, profileJsonSchema());
  return semanticProblems(result.data);
}

const MAX_DEPTH = 100;

function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return false;
}

let jsonSchema: Record<string, unknown> | undefined;

/** A profile that is like another one needs only its id and what differs. */
export function profileJsonSchema(): Record<string, unknown> {
  if (jsonSchema) return jsonSchema;
  const { required, ...rest } = z.toJSONSchema(profileSchema, { unrepresentable: "any" }) as Record<string, unknown>;
  jsonSchema = {
    title: "Backtrail agent profile",
    ...rest,
    required: ["v", "id"],
    anyOf: [{ required: ["like"] }, { required }],
  };
  return jsonSchema;
}
