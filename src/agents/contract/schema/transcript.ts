/** The schema of a profile's `transcript`: where conversations are, what their lines hold, how a copy is made. */
import * as z from "zod/mini";
import {
  conditions,
  insidePath,
  jsonPath,
  jsonPaths,
  key,
  name,
  optionalKey,
  pattern,
  tokenPaths,
  variable,
  words,
} from "./values.ts";

const entryType = z.enum(["prompt", "answer", "thinking", "tool-use", "tool-result", "compaction", "note"]);

const toolPaths = {
  tool_name: optionalKey(jsonPaths, "The tool's name, of a use or a result.", ["$.name"]),
  tool_use_id: optionalKey(
    jsonPaths,
    "What a use and its result share. A conversation is cut only where every use has its result.",
    ["$.id"],
  ),
  tool_input: optionalKey(jsonPaths, "What the tool is given.", ["$.input"]),
};

const itemPaths = {
  type: optionalKey(jsonPaths, "Where a line says what it is; looked up in `types`.", ["$.role"]),
  text: optionalKey(jsonPaths, "A text, or a list of texts and of objects with a `text` or a `content`.", [
    "$.content",
  ]),
  ...toolPaths,
  file_paths: optionalKey(jsonPaths, "Files that a tool of the kind `write` writes. Every path counts.", [
    "$.input.file_path",
  ]),
};

const lineRule = z.strictObject({
  is: key(entryType, "What it is.", "tool-use"),
  when: optionalKey(conditions, "What the line must say.", { "$.type": "assistant" }),
  in: optionalKey(jsonPaths, "A list in the line. The rule applies to each member; its paths start there.", [
    "$.message.parts",
  ]),
  each: optionalKey(conditions, "What the member must say.", { "$.functionCall": { exists: true } }),
  text: optionalKey(jsonPaths, "A text, or a list of texts and of objects with a `text` or a `content`.", ["$.text"]),
  ...toolPaths,
  file_paths: optionalKey(jsonPaths, "For a use: the files that it writes, if its tool is of the kind `write`.", [
    "$.input.file_path",
  ]),
  failed_when: optionalKey(conditions, "For a tool's result: the use failed, so its files were not written.", {
    "$.is_error": true,
  }),
});

/** A path with placeholders, which may not be filled with anything that leaves the directory. */
const place = z
  .string()
  .check(
    z.maxLength(300),
    z.regex(
      /^(?!\/)(?:(?:[A-Za-z0-9._-]|\{session\}|\{project\}|\{folder\}|\{sha256:\d{1,2}\})+(?:\/(?!$)|$))+$/,
      "must be a path of names, {session}, {project}, {folder} and {sha256:12}",
    ),
    z.regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))/, "must not contain . or .. as a directory"),
  );

const lines = z.strictObject({
  list: optionalKey(jsonPath, "For the format `json`: the list of messages in the document.", "$.messages"),
  rules: optionalKey(
    z.array(lineRule).check(z.minLength(1)),
    "What lines say, by rules. Every rule that holds applies, in order.",
    [{ is: "prompt", when: { "$.type": "user" }, text: ["$.message.parts"] }],
  ),
  ...itemPaths,
  types: optionalKey(
    z.record(name, entryType),
    "What a line or block says at `type` → what it is. Other lines are skipped.",
    { user: "prompt", assistant: "answer" },
  ),
  blocks: optionalKey(
    z.strictObject({ at: key(jsonPaths, "The list.", ["$.content"]), ...itemPaths }),
    "For lines that contain a list of blocks: the list (`at`), and the paths in each block.",
    { at: ["$.content"], type: ["$.type"], text: ["$.text"] },
  ),
  prompt_text: optionalKey(
    pattern,
    "A regular expression whose first group is what the user typed, where the agent wraps it.",
    "^<user_input[^>]*>([\\s\\S]*)</user_input>$",
  ),
  id: optionalKey(
    jsonPaths,
    "The line's id, where lines have one. Then a conversation is cut only at lines with an id.",
    ["$.uuid"],
  ),
  session_id: optionalKey(jsonPaths, "Replaced by the new session's id in a copy.", ["$.sessionId"]),
  cwd: optionalKey(jsonPaths, "Replaced by the new directory in a copy for another one.", ["$.cwd"]),
  replaced: optionalKey(
    z.record(jsonPath, place),
    "Other texts that a copy has anew: their path → a pattern as in `place`.",
    { "$.workspaceId": "wd_{folder}_{sha256:12}" },
  ),
  time: optionalKey(jsonPaths, "When the line was written: a date, or milliseconds.", ["$.timestamp"]),
  model: optionalKey(jsonPaths, "The model that answered.", ["$.model"]),
  title: optionalKey(jsonPaths, "The conversation's title; replaced in a copy.", ["$.title"]),
  tokens: optionalKey(tokenPaths, "The tokens of an answer. `input_has_cache`: the input includes cached tokens.", {
    input: ["$.usage.input_tokens"],
    output: ["$.usage.output_tokens"],
  }),
  tokens_when: optionalKey(conditions, "Only lines that say this count tokens.", { "$.type": "usage.record" }),
  message_id: optionalKey(jsonPaths, "Lines with the same one repeat the same tokens.", ["$.message.id"]),
});

const copiedFile = z.strictObject({
  path: key(place, "From the transcript directory.", "{project}/{session}/state.json"),
  json: key(
    z.unknown(),
    "Its content. Strings that are exactly {session}, {root}, {directory}, {transcript}, {title}, {model}, {time} or {millis} are replaced.",
    { id: "{session}", cwd: "{root}" },
  ),
});

export const transcript = z.strictObject({
  format: key(z.enum(["jsonl", "json"]), "One JSON object a line, or one JSON document.", "jsonl"),
  directory: key(insidePath, "Where transcripts are, from the home directory. No other file is read as one.", ".qwen"),
  moved_by: optionalKey(
    z.array(
      z.strictObject({
        env: key(variable, "The variable.", "KIMI_CODE_HOME"),
        path: key(z.union([z.literal("."), insidePath]), "Where they are in the directory that it names.", "sessions"),
      }),
    ),
    "Variables that name another directory, and where transcripts are in it.",
    [{ env: "CLAUDE_CONFIG_DIR", path: "projects" }],
  ),
  place: optionalKey(
    place,
    "Where a session's transcript is in that directory: {session}, {project} (the project's path), {folder} (its last name), {sha256:12} (digits of the path's digest).",
    "{project}/chats/{session}.jsonl",
  ),
  spelling: optionalKey(
    z.strictObject({
      keep: key(
        z.string().check(z.regex(/^[A-Za-z0-9._-]+$/, "must be characters and ranges such as A-Za-z0-9._-")),
        "The characters that stay in {project} and {folder}.",
        "A-Za-z0-9",
      ),
      other: key(z.enum(["-", "_", ""]), "What every other character becomes.", "-"),
      runs: optionalKey(z.boolean(), "Several other characters in a row become one, and none at either end.", true),
      lower: optionalKey(z.boolean(), "In lowercase.", true),
      longest: optionalKey(z.int().check(z.positive(), z.lte(200)), "Cut to so many characters.", 40),
    }),
    "How a path is spelled in {project} and {folder}. By default every character but letters and digits is a hyphen.",
    { keep: "a-z0-9._-", other: "-", runs: true, lower: true, longest: 40 },
  ),
  in_store: optionalKey(z.boolean(), "Our plugin writes the transcripts into the store.", true),
  // Profiles of version 1 may contain this key. Nothing reads it.
  id_field: optionalKey(name, "Of version 1; nothing reads it.", "uuid"),
  title_prefix: optionalKey(z.string().check(z.maxLength(20)), "What the title of a copy begins with.", "[Fork] "),
  recognised_by: key(z.array(jsonPaths), "Groups of paths: a line that has all paths of one group is this agent's.", [
    ["$.uuid", "$.parentUuid", "$.provenance"],
  ]),
  lines: optionalKey(lines, "What a line, or a message of the document, holds."),
  fork: optionalKey(z.boolean(), "The agent continues a cut copy of a transcript as a session of its own.", true),
  new_id: optionalKey(
    z
      .string()
      .check(
        z.regex(/^[A-Za-z0-9_-]*\{(?:uuid|millis_random)\}[A-Za-z0-9_-]*$/, "must contain {uuid} or {millis_random}"),
      ),
    "The form of a session's id; `{uuid}` by default.",
    "session_{uuid}",
  ),
  files: optionalKey(
    z.array(copiedFile).check(z.maxLength(10)),
    "Other files that a copy needs, such as the session's own record.",
    [{ path: "{project}/{session}/state.json", json: { id: "{session}", cwd: "{root}" } }],
  ),
  notice: optionalKey(
    z.unknown(),
    "A user's message as the agent writes it, with {text}, and {id}, {parent}, {session}, {root}, {time}, {millis}. It tells the agent what was undone.",
    { uuid: "{id}", parentUuid: "{parent}", sessionId: "{session}", type: "user", message: { text: "{text}" } },
  ),
  import: optionalKey(words, "The command that takes in a copy, for an agent with a database. `{file}` is the copy.", [
    "kilo",
    "import",
    "{file}",
  ]),
});

export type TranscriptSection = z.infer<typeof transcript>;
export type LinesSection = z.infer<typeof lines>;
export type LineRule = z.infer<typeof lineRule>;
export type Spelling = NonNullable<TranscriptSection["spelling"]>;
/** The paths of the fields of a line, or of a block in a line. */
export type ItemPaths = Pick<LinesSection, "type" | "text" | "tool_name" | "tool_use_id" | "tool_input" | "file_paths">;
