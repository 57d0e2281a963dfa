/** The schema of a profile's `hooks`: where hooks are installed, what they send and what that means. */
import * as z from "zod/mini";
import { EVENT_TYPES, TOOL_KINDS } from "../../../model/event.ts";
import {
  conditions,
  insidePath,
  jsonPath,
  jsonPaths,
  key,
  name,
  optionalKey,
  sentence,
  variable,
  variables,
  word,
} from "./values.ts";

const movedBy = z.strictObject({ env: variable, path: insidePath });
const inFile = {
  path: key(insidePath, "The file, from the repository's root, or from the home directory for the scope `user`."),
  moved_by: optionalKey(movedBy, "A variable that names another directory, and the file's path in it.", {
    env: "QWEN_HOME",
    path: "settings.json",
  }),
};
const tomlName = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/, "must be a plain TOML name"));

const settingsFile = z.union([
  z.strictObject({
    format: z.enum(["claude-settings", "gemini-settings", "cursor-hooks", "named-hooks", "own-file"]),
    ...inFile,
  }),
  z.strictObject({
    format: z.literal("toml-hooks"),
    ...inFile,
    table: optionalKey(tomlName, "The array of tables that holds the hooks; `hooks` by default.", "hooks"),
    names: optionalKey(
      z.strictObject({
        event: z.optional(tomlName),
        command: z.optional(tomlName),
        matcher: z.optional(tomlName),
        timeout: z.optional(tomlName),
      }),
      "What the agent calls the keys of a hook, where its names differ.",
      { event: "type" },
    ),
  }),
  z.strictObject({
    format: z.literal("script-per-event"),
    path: key(insidePath, "The directory of the scripts, from the same place as a file."),
    moved_by: z.optional(movedBy),
    file: optionalKey(
      z.string().check(z.regex(/^[A-Za-z0-9._-]*\{event\}[A-Za-z0-9._-]*$/, "must be a file name with {event} in it")),
      "A script's name; `{event}` by default.",
      "{event}.sh",
    ),
  }),
  // Without a file: `enable` prints the commands, and the user installs them.
  z.strictObject({
    format: z.literal("none"),
    path: z.optional(z.never()),
    moved_by: z.optional(z.never()),
  }),
]);

const eventType = z.enum(EVENT_TYPES);
const conditionalEvent = z.strictObject({ is: eventType, when: conditions });

const fieldNames = {
  event: "the event's name, where the hook's own name does not tell it",
  session_id: "the session's id",
  previous_session_id: "the session that this one continues under a new id",
  cwd: "the agent's directory",
  project_root: "the project's root",
  transcript_path: "the transcript",
  timestamp: "when it happened",
  prompt: "what the user asked: a text, or a list of blocks with a `text`",
  prompt_id: "the agent's id of the prompt; two events with the same one are one turn",
  source: "why a session starts; `compact` means that it goes on",
  error: "the turn's error; a turn with one counts as interrupted",
  model: "the model",
  response: "the agent's last answer",
  tool_name: "the tool's name",
  tool_input: "the tool's input",
  tool_use_id: "the id of the tool's use",
  tool_command: "the shell command",
  tool_paths: "the files that the tool writes; every path that is found counts",
  subagent_id: "the subagent's id",
  subagent_type: "the subagent's kind",
  subagent_description: "what it is to do, in a few words",
  subagent_prompt: "what it was asked",
  subagent_tool_use_id: "the tool use that started it",
  subagent_transcript_path: "its transcript",
} as const;
export type FieldName = keyof typeof fieldNames;

const fields = z.strictObject(
  Object.fromEntries(
    Object.entries(fieldNames).map(([field, meaning]) => [
      field,
      optionalKey(jsonPaths, `Paths of ${meaning}.`, [`$.${field}`]),
    ]),
  ) as Record<FieldName, z.ZodMiniOptional<typeof jsonPaths>>,
);

export const hooks = z.strictObject({
  settings: key(
    z.strictObject({
      local: z.optional(settingsFile),
      project: z.optional(settingsFile),
      user: z.optional(settingsFile),
    }),
    "Where the agent looks for hooks, for each scope that it has: `local`, `project`, `user`.",
    { user: { path: ".kimi-code/config.toml", format: "toml-hooks" } },
  ),
  install: key(
    z.record(
      name,
      z.strictObject({
        verb: word,
        matcher: z.optional(name),
        timeout: z.optional(z.int().check(z.positive(), z.lte(600))),
      }),
    ),
    "The hooks to install: the agent's event name → the verb that calls us, a `matcher`, a `timeout` in seconds.",
    { UserPromptSubmit: { verb: "user-prompt-submit" }, PreToolUse: { verb: "pre-tool-use", matcher: "shell" } },
  ),
  template: optionalKey(
    z.array(z.string().check(z.maxLength(2_000))).check(z.minLength(1), z.maxLength(500)),
    "For the format `own-file`: the file's lines. `{{hooks}}` becomes a JSON object of the hooks with their commands.",
    ["const HOOKS = {{hooks}};", "export default (agent) => connect(agent, HOOKS);"],
  ),
  borrowed_by: optionalKey(
    z.array(z.strictObject({ agent: word, payload: z.optional(jsonPaths), env: z.optional(variables) })),
    "Other agents that run these hooks as if they were their own, and what shows it.",
    [{ agent: "cursor", payload: ["$.cursor_version"] }],
  ),
  context_reply: optionalKey(
    z.enum(["hookSpecificOutput", "additionalContext", "context", "injectSteps"]),
    "How the reply to a prompt's hook passes text to the model.",
    "hookSpecificOutput",
  ),
  notice_reply: optionalKey(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a JSON field")),
    "The field of a hook's reply that the agent shows to its user.",
    "systemMessage",
  ),
  review: optionalKey(sentence, "What the user has to do before the agent runs new hooks; `enable` prints it."),
  turned_off_by: optionalKey(
    z.strictObject({ path: z.array(name).check(z.minLength(1)), value: z.boolean(), file: z.optional(insidePath) }),
    "The setting that turns off all of the agent's hooks.",
    { path: ["disableAllHooks"], value: true },
  ),
  disabled_names: optionalKey(z.array(name).check(z.minLength(1)), "The setting that lists hooks to skip by name.", [
    "hooksConfig",
    "disabled",
  ]),
  strict_json: optionalKey(
    z.boolean(),
    "The agent ignores a settings file that has a comment or a trailing comma.",
    true,
  ),
  fields: key(fields, "Where a payload has each field. The first path that exists counts.", {
    session_id: ["$.session_id"],
    prompt: ["$.prompt"],
  }),
  events: key(
    z.record(name, z.union([eventType, conditionalEvent, z.array(conditionalEvent).check(z.minLength(1))])),
    "The agent's event name → what it means, perhaps only under a condition. Other events are ignored.",
    { Stop: "TurnEnd", TaskStart: { is: "TurnStart", when: { "$.parent_agent_id": null } } },
  ),
  tools: key(z.record(name, z.enum(TOOL_KINDS)), "The agent's tool name → its kind. Other tools are `other`.", {
    write_file: "write",
    run_shell_command: "shell",
  }),
});

export const environment = z.strictObject({
  project_dir: z.optional(variables),
  env_file: z.optional(variables),
  session_id: z.optional(variables),
  pid: z.optional(variables),
});

const scoreRule = z.strictObject({
  score: z.int().check(z.positive()),
  path_exists: z.optional(jsonPath),
  path_matches: z.optional(z.strictObject({ path: jsonPath, regex: z.string().check(z.maxLength(500)) })),
  env_exists: z.optional(variable),
  dir_exists: z.optional(insidePath),
});
export const detection = z.strictObject({
  min_score: z.int().check(z.positive()),
  score_rules: z.array(scoreRule),
});

export type HooksSection = z.infer<typeof hooks>;
export type SettingsFile = z.infer<typeof settingsFile>;
export type ConditionalEvent = z.infer<typeof conditionalEvent>;
export type ScoreRule = z.infer<typeof scoreRule>;
