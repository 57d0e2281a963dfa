/** The schema of a profile's `run`: how the agent is started without a terminal, and what its output means. */
import * as z from "zod/mini";
import { conditions, jsonPaths, key, name, optionalKey, pattern, tokenPaths, word, words } from "./values.ts";

const streamRule = z.strictObject({
  when: key(conditions, "What the line must say.", { "$.type": "result" }),
  in: optionalKey(jsonPaths, "A list in the line: the rule applies to each member, and its paths start there.", [
    "$.message.content",
  ]),
  each: optionalKey(conditions, "What the member must say.", { "$.type": "text" }),
  is: key(z.enum(["prompt", "message", "delta", "tool", "end", "failure", "usage"]), "What it tells.", "end"),
  text: optionalKey(jsonPaths, "The text of a prompt, a message, the final answer or the failure.", ["$.result"]),
  succeeds_when: optionalKey(conditions, "For `end`: otherwise the run failed.", { "$.is_error": false }),
  name: optionalKey(jsonPaths, "For `tool`: its name.", ["$.name"]),
  input: optionalKey(jsonPaths, "For `tool`: what it is given.", ["$.input"]),
  tokens: optionalKey(tokenPaths, "For `usage`: the tokens, as in `transcript.lines`.", {
    input: ["$.usage.input_tokens"],
    output: ["$.usage.output_tokens"],
  }),
  cost: optionalKey(jsonPaths, "For `usage`: US dollars.", ["$.total_cost_usd"]),
  total: optionalKey(z.boolean(), "For `usage`: it replaces all usages before it.", true),
  message_id: optionalKey(jsonPaths, "Lines with the same one tell of the same tokens.", ["$.message.id"]),
});

const stream = z.strictObject({
  output: optionalKey(
    z.enum(["json", "text"]),
    "`text`: the agent prints its answer as plain text. `json` by default: one object a line.",
    "text",
  ),
  end: optionalKey(
    z.enum(["record", "exit"]),
    "`exit`: the run is complete when the process ends with 0. `record` by default: a rule `end` tells it.",
    "exit",
  ),
  session_id: optionalKey(jsonPaths, "Where a line has the session's id.", ["$.session_id"]),
  session_from: optionalKey(
    z.enum(["output", "hooks", "files"]),
    "For an agent that prints its session's id too late or never. `hooks`: the run's hooks tell it. `files`: the transcript tells it that is new at `transcript.place`.",
    "hooks",
  ),
  session_pattern: optionalKey(
    pattern,
    "A regular expression whose first group is the session's id, in output that is plain text.",
    "session: ([0-9a-f-]{36})",
  ),
  session_when: optionalKey(conditions, "Restricts `session_id` to lines that say this.", { "$.type": "init" }),
  model: optionalKey(jsonPaths, "The model that answers; the latest line counts.", ["$.model"]),
  rules: key(z.array(streamRule), "What lines mean. Every rule that holds applies, in order.", [
    { when: { "$.type": "result" }, is: "end", text: ["$.result"] },
  ]),
});

export const run = z.strictObject({
  name: optionalKey(word, "The name that runs use; the id by default.", "claude"),
  order: optionalKey(z.int().check(z.positive()), "The place among the agents that `run` offers.", 1),
  command: key(
    words,
    "The words after the program. {prompt} is the prompt; the words {model}, {session}, {context} and {args} become the lists below, or nothing.",
    ["-p", "{prompt}", "--output-format", "stream-json", "{model}", "{session}", "{args}"],
  ),
  stdin: optionalKey(z.boolean(), "The prompt comes on standard input instead.", true),
  model: optionalKey(
    z.strictObject({
      words: key(words, "The words that choose a model.", ["--model", "{model}"]),
      flags: key(words, "Every spelling of the flag, so that one of the user's is known.", ["--model", "-m"]),
      default: optionalKey(name, "The model if the user names none; otherwise the agent chooses.", "model-1"),
    }),
    "The words that choose a model, every spelling of the flag, and the model if the user names none.",
    { words: ["--model", "{model}"], flags: ["--model", "-m"] },
  ),
  resume: optionalKey(words, "The words that continue a session.", ["--resume", "{session}"]),
  new_session: optionalKey(
    z.strictObject({
      words: key(words, "The words that give the id.", ["--session-id", "{session}"]),
      unless: optionalKey(words, "Words of the user's beside which these can't stand.", ["--continue", "--resume"]),
      at_once: optionalKey(z.boolean(), "The output tells the id too late: ours counts from the first line on.", true),
    }),
    "The words that start a session with an id of ours.",
    { words: ["--session-id", "{session}"] },
  ),
  context: optionalKey(words, "The words that add text before the conversation.", ["--append", "{context}"]),
  ask: optionalKey(
    z.array(z.string().check(z.maxLength(200))).check(z.minLength(1)),
    "The words for a question that changes no files and saves no session.",
    ["-p", "{prompt}", "--no-tools"],
  ),
  stream: key(stream, "What the agent prints.", { output: "text", end: "exit", rules: [] }),
});

export type RunSection = z.infer<typeof run>;
export type StreamSection = RunSection["stream"];
export type StreamRule = StreamSection["rules"][number];
