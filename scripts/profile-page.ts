/** The page about every key of a profile, made from the schema: docs/profile-language.md. */
import { profileJsonSchema } from "../src/agents/contract/schema.ts";

type Json = Record<string, unknown>;

const INTRO = `# The profile language

A profile is one JSON file that describes an agent: how to recognize it, where its hooks go and what they send, where
its conversations are, and how to run it. It contains no code, and nothing in it goes through a shell.
[Adding an agent](adding-an-agent.md) shows how to write one; [formats/profile.md](formats/profile.md) has the rules
in detail. Editors read the JSON Schema, \`src/agents/contract/profile.schema.json\`.

\`scripts/generate-agents.ts\` writes this page from the schema that checks profiles.

## Versions

The format's version is \`v\`, now 2. Every profile of version 1 is a profile of version 2 as it is. Profiles without a
version are upgraded when they are read.

## Conditions

\`when\`, \`each\`, \`failed_when\` and the like are tables of paths and what their values must be; all must hold:

| written | holds if the value |
| --- | --- |
| \`"$.type": "user"\` | is this one |
| \`"$.type": ["user", null]\` | is one of these; \`null\` also means that it is missing |
| \`"$.functionCall": { "exists": true }\` | is there (\`false\`: is not) |
| \`"$.thought": { "not": true }\` | is not this one, or none of a list |
| \`"$.model": { "matches": "^qwen" }\` | is a text that matches the regular expression |

Regular expressions are RE2's: no look-around and no back-references, so that none takes more than linear time.

## Paths

\`$.a.b\` leads from the object to \`a\` and from there to \`b\`; \`$.list.0\` is the first member of a list. A name is also
found in its other spellings (\`session_id\`, \`sessionId\`, \`session-id\`). Of several paths, the first that leads to a
value counts. A text that is itself a JSON object is looked into: \`$.function.arguments.path\` works where the arguments
of a tool are a text.

## Keys
`;

const SCOPED = new Set(["hooks.settings.", "mcp.settings.", "commands.directories."]);
const CONDITIONS = new Set(["when", "each", "failed_when", "succeeds_when", "tokens_when", "session_when"]);

export function profilePage(): string {
  const rows: string[] = [];
  const { properties, required, anyOf } = profileJsonSchema() as {
    properties: Json;
    required: string[];
    anyOf: Json[];
  };
  const needed = new Set([...required, ...((anyOf[1]?.["required"] ?? []) as string[])]);
  addRows("", properties, needed, rows);
  const table = ["| key | meaning | example |", "| --- | --- | --- |", ...new Set(rows)].join("\n");
  return `${INTRO}\nKeys in bold are required, except in a profile that is \`like\` another one.\n\n${table}\n`;
}

function addRows(prefix: string, properties: Json, required: ReadonlySet<string>, rows: string[]): void {
  for (const [key, value] of Object.entries(properties)) {
    const schema = value as Json;
    // The scopes have the same keys.
    const isScope = SCOPED.has(prefix);
    if (isScope && key !== "local") continue;
    const path = isScope ? `${prefix}<scope>` : `${prefix}${key}`;
    const text = schema["description"];
    if (typeof text === "string")
      rows.push(row(path, `${text}${choicesText(schema, text)}`, schema["examples"], required.has(key)));
    // The keys of a condition are described above.
    if (CONDITIONS.has(key)) continue;
    for (const [below, part] of partsOf(schema)) {
      addRows(`${path}${below}.`, part["properties"] as Json, new Set((part["required"] ?? []) as string[]), rows);
    }
  }
}

/** The objects below a key: its own keys, the members of a list, the values of a table, and alternatives. */
function partsOf(schema: Json): [below: string, part: Json][] {
  const found: [string, Json][] = [];
  const look = (below: string, value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    const part = value as Json;
    if (part["properties"]) found.push([below, part]);
    if (part["items"]) look(`${below}[]`, part["items"]);
    if (part["additionalProperties"]) look(`${below}.<name>`, part["additionalProperties"]);
    for (const other of (part["anyOf"] ?? []) as Json[]) look(below, other);
  };
  look("", schema);
  return found;
}

/** The words that a key, or each value of its table, may be. */
function choicesText(schema: Json, text: string): string {
  const values = schema["additionalProperties"] as Json | undefined;
  const places = values ? [values, ...((values["anyOf"] ?? []) as Json[])] : [schema];
  const choices = places.flatMap((place) => (place["enum"] ?? []) as unknown[]);
  if (choices.length < 2 || choices.every((choice) => text.includes(`\`${choice}\``))) return "";
  const list = choices.map((choice) => (choice === "" ? "nothing" : `\`${choice}\``)).join(", ");
  return values ? ` Each is one of: ${list}.` : ` One of: ${list}.`;
}

function row(path: string, text: string, examples: unknown, isRequired: boolean): string {
  const [example] = Array.isArray(examples) ? examples : [];
  const shown = example === undefined ? "below" : `\`${JSON.stringify(example).replaceAll("|", "\\|")}\``;
  const name = isRequired ? `**\`${path}\`**` : `\`${path}\``;
  return `| ${name} | ${text.replaceAll("|", "\\|")} | ${shown} |`;
}
