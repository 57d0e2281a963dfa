/**
 * The profile's schema: what `agents check`, `enable` and the tests hold a profile against, and what the JSON
 * Schema for editors is made from. Never loaded while a hook runs.
 */
import { en } from "zod/locales";
import * as z from "zod/mini";
import { isAgentId, type Profile } from "./profile.ts";

const name = z.string().check(z.minLength(1), z.maxLength(200));
const jsonPath = z.string().check(z.regex(/^\$(?:\.[A-Za-z0-9_-]+)*$/, "must be a path such as $.a.b"));
const jsonPaths = z.array(jsonPath).check(z.minLength(1));
const variable = z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable"));
const variables = z.array(variable).check(z.minLength(1));
const insidePath = z
  .string()
  .check(
    z.regex(/^(?!\/|[A-Za-z]:)(?!.*(?:^|\/)\.\.?(?:\/|$))[^\\\0]+$/, "must be a path that stays below its directory"),
  );
const word = z.string().check(z.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "must be small letters, digits and hyphens"));

const eventType = z.enum([
  "SessionStart",
  "TurnStart",
  "TurnEnd",
  "Compaction",
  "SessionEnd",
  "SubagentStart",
  "SubagentEnd",
  "ToolStart",
  "ToolEnd",
]);
const toolKind = z.enum(["write", "shell", "task", "todo", "read", "other"]);

const scoreRule = z.strictObject({
  score: z.int().check(z.positive()),
  path_exists: z.optional(jsonPath),
  path_matches: z.optional(z.strictObject({ path: jsonPath, regex: z.string() })),
  env_exists: z.optional(variable),
  dir_exists: z.optional(insidePath),
});

const settingsFile = z.strictObject({
  path: insidePath,
  format: z.enum(["claude-settings", "gemini-settings", "cursor-hooks", "own-file"]),
  moved_by: z.optional(z.strictObject({ env: variable, path: insidePath })),
});

const fields = z.strictObject({
  event: z.optional(jsonPaths),
  session_id: z.optional(jsonPaths),
  previous_session_id: z.optional(jsonPaths),
  cwd: z.optional(jsonPaths),
  project_root: z.optional(jsonPaths),
  transcript_path: z.optional(jsonPaths),
  timestamp: z.optional(jsonPaths),
  prompt: z.optional(jsonPaths),
  model: z.optional(jsonPaths),
  response: z.optional(jsonPaths),
  tool_name: z.optional(jsonPaths),
  tool_input: z.optional(jsonPaths),
  tool_use_id: z.optional(jsonPaths),
  tool_command: z.optional(jsonPaths),
  tool_paths: z.optional(jsonPaths),
  subagent_id: z.optional(jsonPaths),
  subagent_type: z.optional(jsonPaths),
  subagent_description: z.optional(jsonPaths),
  subagent_prompt: z.optional(jsonPaths),
  subagent_transcript_path: z.optional(jsonPaths),
});

const hooks = z.strictObject({
  settings: z.strictObject({
    local: z.optional(settingsFile),
    project: z.optional(settingsFile),
    user: z.optional(settingsFile),
  }),
  install: z.record(
    name,
    z.strictObject({
      verb: word,
      matcher: z.optional(name),
      timeout: z.optional(z.int().check(z.positive(), z.lte(600))),
    }),
  ),
  borrowed_by: z.optional(
    z.array(z.strictObject({ agent: word, payload: z.optional(jsonPaths), env: z.optional(variables) })),
  ),
  review: z.optional(z.string().check(z.minLength(1), z.maxLength(500))),
  fields,
  events: z.record(name, eventType),
  tools: z.record(name, toolKind),
});

const entryType = z.enum(["prompt", "answer", "thinking", "tool-use", "tool-result", "compaction", "note"]);
const itemPaths = {
  type: z.optional(jsonPaths),
  text: z.optional(jsonPaths),
  tool_name: z.optional(jsonPaths),
  tool_use_id: z.optional(jsonPaths),
  tool_input: z.optional(jsonPaths),
  file_paths: z.optional(jsonPaths),
};
const tokenPaths = z.strictObject({
  input: z.optional(jsonPaths),
  output: z.optional(jsonPaths),
  cache_read: z.optional(jsonPaths),
  cache_write: z.optional(jsonPaths),
  input_has_cache: z.optional(z.boolean()),
});
const lines = z.strictObject({
  ...itemPaths,
  types: z.record(name, entryType),
  blocks: z.optional(z.strictObject({ at: jsonPaths, ...itemPaths })),
  id: z.optional(jsonPaths),
  session_id: z.optional(jsonPaths),
  time: z.optional(jsonPaths),
  model: z.optional(jsonPaths),
  title: z.optional(jsonPaths),
  tokens: z.optional(tokenPaths),
  message_id: z.optional(jsonPaths),
});

const words = z.array(name).check(z.minLength(1));
const condition = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const conditions = z.record(jsonPath, z.union([condition, z.array(condition).check(z.minLength(1))]));
const run = z.strictObject({
  name: z.optional(word),
  command: words,
  stdin: z.optional(z.boolean()),
  model: z.optional(z.strictObject({ words, flags: words, default: z.optional(name) })),
  resume: z.optional(words),
  new_session: z.optional(z.strictObject({ words, unless: z.optional(words), at_once: z.optional(z.boolean()) })),
  context: z.optional(words),
  ask: z.optional(z.array(z.string().check(z.maxLength(200))).check(z.minLength(1))),
  stream: z.strictObject({
    session_id: jsonPaths,
    session_when: z.optional(conditions),
    model: z.optional(jsonPaths),
    rules: z.array(
      z.strictObject({
        when: conditions,
        in: z.optional(jsonPaths),
        each: z.optional(conditions),
        is: z.enum(["prompt", "message", "delta", "tool", "end", "failure", "usage"]),
        text: z.optional(jsonPaths),
        succeeds_when: z.optional(conditions),
        name: z.optional(jsonPaths),
        input: z.optional(jsonPaths),
        tokens: z.optional(tokenPaths),
        cost: z.optional(jsonPaths),
        total: z.optional(z.boolean()),
        message_id: z.optional(jsonPaths),
      }),
    ),
  }),
});

export const profileSchema = z.strictObject({
  $schema: z.optional(z.string()),
  v: z.literal(1),
  id: word.check(z.maxLength(64)),
  display_name: name,
  description: z.optional(name),
  preview: z.optional(z.boolean()),
  short_names: z.optional(z.array(word)),
  executable: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._-]+$/, "must be a program's name without a path"))),
  detection: z.strictObject({ min_score: z.int().check(z.positive()), score_rules: z.array(scoreRule) }),
  env: z.optional(
    z.strictObject({
      project_dir: z.optional(variables),
      env_file: z.optional(variables),
      session_id: z.optional(variables),
      pid: z.optional(variables),
    }),
  ),
  hooks: z.optional(hooks),
  transcript: z.optional(
    z.strictObject({
      format: z.enum(["jsonl", "json"]),
      directory: insidePath,
      id_field: z.optional(name),
      title_prefix: z.string().check(z.maxLength(20)),
      recognised_by: z.array(jsonPaths),
      lines: z.optional(lines),
      fork: z.optional(z.boolean()),
    }),
  ),
  protected_dirs: z.array(insidePath),
  resume: z.optional(z.array(name).check(z.minLength(1))),
  start: z.optional(z.array(name).check(z.minLength(2))),
  run: z.optional(run),
  tested_versions: z.array(name),
});

/** What is wrong with a profile, in words, each with the place in the file; empty where nothing is. */
export function problemsOf(value: unknown): string[] {
  const result = profileSchema.safeParse(value, { error: en().localeError });
  if (!result.success) {
    return result.error.issues.map((issue) => `${issue.path.map(String).join(".") || "the file"}: ${issue.message}`);
  }
  return semanticProblems(value as Profile);
}

/** What a schema can't say. */
function semanticProblems(profile: Profile): string[] {
  const problems: string[] = [];
  if (!isAgentId(profile.id)) problems.push("id: must be small letters, digits and hyphens");
  profile.detection.score_rules.forEach((rule, i) => {
    const at = `detection.score_rules.${i}`;
    if (Object.keys(rule).length < 2) problems.push(`${at}: needs a condition beside its score`);
    if (rule.path_matches && !compiles(rule.path_matches.regex)) problems.push(`${at}: not a regular expression`);
  });
  for (const [native, hook] of Object.entries(profile.hooks?.install ?? {})) {
    if (profile.hooks?.events[native] === undefined) {
      problems.push(`hooks.install.${native}: hooks.events doesn't say what "${native}" (${hook.verb}) means`);
    }
  }
  if (profile.transcript?.lines && profile.transcript.format !== "jsonl") {
    problems.push("transcript.lines: only a JSONL transcript has lines");
  }
  if (profile.transcript?.fork && (!profile.transcript.lines || !profile.resume)) {
    problems.push("transcript.fork: needs transcript.lines and resume");
  }
  if (profile.transcript && profile.resume && !profile.resume.some((part) => part.includes("{session}"))) {
    problems.push("resume: names no {session}");
  }
  if (profile.start && !profile.start.includes("{prompt}")) problems.push("start: has no word {prompt}");
  return [...problems, ...runProblems(profile)];
}

/** Places without which a run would ask nothing, or continue nothing. */
function runProblems(profile: Profile): string[] {
  const run = profile.run;
  if (!run) return [];
  const problems: string[] = [];
  if (!profile.executable) problems.push("run: needs the profile's executable");
  if (run.stdin !== true && !run.command.some((word) => word.includes("{prompt}"))) {
    problems.push("run.command: names no {prompt}");
  }
  const needed = { model: run.model?.words, session: run.resume ?? run.new_session?.words, context: run.context };
  for (const [place, words] of Object.entries(needed)) {
    if (words && !run.command.includes(`{${place}}`)) problems.push(`run.command: has no place {${place}}`);
  }
  if (run.ask && run.stdin !== true && !run.ask.some((word) => word.includes("{prompt}"))) {
    problems.push("run.ask: names no {prompt}");
  }
  if (!run.command.includes("{args}")) problems.push("run.command: has no place {args}");
  return problems;
}

function compiles(regex: string): boolean {
  try {
    new RegExp(regex);
    return true;
  } catch {
    return false;
  }
}

export function profileJsonSchema(): unknown {
  return { title: "Backtrail agent profile", ...z.toJSONSchema(profileSchema) };
}

// The type that code reads and the schema that files are held against must not drift apart.
type Checked = z.infer<typeof profileSchema>;
const agrees: (checked: Checked) => Profile = (checked) => checked;
void agrees;
