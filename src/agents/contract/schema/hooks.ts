/** The schema of a profile's `hooks`: where hooks are installed, what they send and what it means. */
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

const movedBy = z.strictObject({
  env: key(variable, "The variable.", "QWEN_HOME"),
  path: key(insidePath, "The path in the directory that it names.", "settings.json"),
});
const inFile = {
  path: key(
    insidePath,
    "The file, from the repository's root, or from the home directory for the scope `user`.",
    ".qwen/settings.json",
  ),
  moved_by: optionalKey(movedBy, "A variable that names another directory, and the file's path in it.", {
    env: "QWEN_HOME",
    path: "settings.json",
  }),
};
const tomlName = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/, "must be a plain TOML name"));

const settingsFile = z.union([
  z.strictObject({
    format: key(
      z.enum(["claude-settings", "gemini-settings", "cursor-hooks", "named-hooks", "own-file"]),
      "The form of the file ([what stands in each](formats/profile.md#hooks)); also `toml-hooks`, `script-per-event` and `none`.",
      "claude-settings",
    ),
    ...inFile,
  }),
  z.strictObject({
    format: key(z.literal("toml-hooks"), "An array of tables in TOML.", "toml-hooks"),
    ...inFile,
    table: optionalKey(tomlName, "The array of tables that holds the hooks; `hooks` by default.", "hooks"),
    names: optionalKey(
      z.strictObject({
        event: optionalKey(tomlName, "The event's key; `event` by default.", "type"),
        command: optionalKey(tomlName, "The command's key; `command` by default.", "run"),
        name: optionalKey(
          tomlName,
          "The key of a hook's name, for an agent that wants one; otherwise none is written.",
          "name",
        ),
        matcher: optionalKey(tomlName, "The matcher's key; `matcher` by default.", "tools"),
        timeout: optionalKey(tomlName, "The key of the timeout in seconds; `timeout` by default.", "seconds"),
      }),
      "What the agent calls the keys of a hook, where its names differ.",
      { event: "type" },
    ),
  }),
  z.strictObject({
    format: key(
      z.literal("script-per-event"),
      "A directory with an executable script for each event.",
      "script-per-event",
    ),
    path: key(insidePath, "The directory of the scripts, from the same place as a file.", ".cline/hooks"),
    moved_by: optionalKey(movedBy, "A variable that names another directory, and the scripts' directory in it.", {
      env: "CLINE_DIR",
      path: "hooks",
    }),
    file: optionalKey(
      z.string().check(z.regex(/^[A-Za-z0-9._-]*\{event\}[A-Za-z0-9._-]*$/, "must be a file name with {event} in it")),
      "A script's name; `{event}` by default.",
      "{event}.sh",
    ),
  }),
  // Without a file: `enable` prints the commands, and the user installs them.
  z.strictObject({
    format: key(z.literal("none"), "No file: `enable` prints the commands.", "none"),
    path: z.optional(z.never()),
    moved_by: z.optional(z.never()),
  }),
]);

const eventType = z.enum(EVENT_TYPES);
const conditionalEvent = z.strictObject({
  is: key(eventType, "What it means under the condition.", "TurnStart"),
  when: key(conditions, "What the payload must say.", { "$.parent_agent_id": null }),
});

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
  env_file: "a file whose lines become variables of the agent's commands",
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
      local: optionalKey(settingsFile, "For one user in one repository.", {
        path: ".qwen/settings.json",
        format: "claude-settings",
      }),
      project: optionalKey(settingsFile, "For everyone in the repository.", {
        path: ".qwen/settings.json",
        format: "claude-settings",
      }),
      user: optionalKey(settingsFile, "For one user, in the home directory.", {
        path: ".qwen/settings.json",
        format: "claude-settings",
      }),
    }),
    "Where the agent looks for hooks, for each scope that it has: `local`, `project`, `user`.",
    { user: { path: ".kimi-code/config.toml", format: "toml-hooks" } },
  ),
  install: key(
    z.record(
      name,
      z.strictObject({
        verb: key(word, "The word that the hook's command calls us with.", "user-prompt-submit"),
        matcher: optionalKey(name, "The tools that the hook is for, as the agent writes it.", "write_file|edit"),
        timeout: optionalKey(z.int().check(z.positive(), z.lte(600)), "Seconds.", 10),
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
    z.array(
      z.strictObject({
        agent: key(word, "The other agent's id.", "cursor"),
        payload: optionalKey(jsonPaths, "Paths that only its payloads have.", ["$.cursor_version"]),
        env: optionalKey(variables, "Variables that only it sets.", ["DROID_PROJECT_DIR"]),
      }),
    ),
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
  review: optionalKey(
    sentence,
    "What the user has to do before the agent runs new hooks; `enable` prints it.",
    "Hooks run only in a folder that you trust: if it asks about this one, say yes.",
  ),
  turned_off_by: optionalKey(
    z.strictObject({
      path: key(z.array(name).check(z.minLength(1)), "The keys that lead to it.", ["disableAllHooks"]),
      value: key(z.boolean(), "The value with which hooks are off.", true),
      file: optionalKey(insidePath, "Another file, beside the one with the hooks.", "config.json"),
    }),
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
  project_dir: optionalKey(variables, "The project's directory.", ["QWEN_PROJECT_DIR"]),
  env_file: optionalKey(variables, "A file whose lines become variables of the agent's commands.", ["CLAUDE_ENV_FILE"]),
  session_id: optionalKey(variables, "The session's id.", ["QWEN_CODE_SESSION_ID"]),
  pid: optionalKey(variables, "The agent's process, which tells whether a turn still runs.", ["PI_PID"]),
});

const scoreRule = z.strictObject({
  score: key(z.int().check(z.positive()), "What the rule adds if all of its conditions hold.", 60),
  path_exists: optionalKey(jsonPath, "The payload has this path.", "$.clineVersion"),
  path_matches: optionalKey(
    z.strictObject({
      path: key(jsonPath, "The path.", "$.transcript_path"),
      regex: key(z.string().check(z.maxLength(500)), "What its text must match.", "/\\.qwen/"),
    }),
    "The text at a path of the payload matches.",
    { path: "$.transcript_path", regex: "/\\.qwen/" },
  ),
  env_exists: optionalKey(variable, "The variable is set.", "QWEN_CODE_SESSION_ID"),
  dir_exists: optionalKey(insidePath, "The repository has this directory.", ".qwen"),
});
export const detection = z.strictObject({
  min_score: key(z.int().check(z.positive()), "The score from which on it is this agent.", 50),
  score_rules: key(z.array(scoreRule), "Rules whose scores are added up.", [
    { score: 60, path_exists: "$.clineVersion" },
  ]),
});

export type HooksSection = z.infer<typeof hooks>;
export type SettingsFile = z.infer<typeof settingsFile>;
export type ConditionalEvent = z.infer<typeof conditionalEvent>;
export type ScoreRule = z.infer<typeof scoreRule>;
