/**
 * Declarations of the profile's schema without zod: the library has no dependencies, so its types can't refer to one.
 * They are made from the JSON Schema, which is generated from the same definition.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}

const FOLDER = "agents/contract/schema";
const SECTIONS: Readonly<Record<string, string>> = {
  hooks: `export type HooksSection = NonNullable<Profile["hooks"]>;
export type SettingsFile = NonNullable<HooksSection["settings"]["local"]>;
export type FieldName = keyof HooksSection["fields"];
export type ScoreRule = Profile["detection"]["score_rules"][number];
export type ConditionalEvent = Exclude<HooksSection["events"][string], string | readonly unknown[]>;
`,
  run: `export type RunSection = NonNullable<Profile["run"]>;
export type StreamSection = NonNullable<RunSection["stream"]>;
export type StreamRule = NonNullable<StreamSection["rules"]>[number];
`,
  transcript: `export type TranscriptSection = NonNullable<Profile["transcript"]>;
export type LinesSection = NonNullable<TranscriptSection["lines"]>;
export type LineRule = NonNullable<LinesSection["rules"]>[number];
export type ItemPaths = LinesSection;
export type Spelling = NonNullable<TranscriptSection["spelling"]>;
`,
  values: `export type Scalar = string | number | boolean | null;
export type Conditions = LineConditions;
export type Condition = Conditions[string];
type LineConditions = NonNullable<NonNullable<Profile["run"]>["stream"]>["rules"] extends infer R
  ? NonNullable<R> extends { when: infer W }[] ? W & Record<string, unknown> : never
  : never;
export type TokenPaths = NonNullable<NonNullable<NonNullable<Profile["transcript"]>["lines"]>["tokens"]>;
`,
  mcp: `export type McpSection = NonNullable<Profile["mcp"]>;
`,
};

/** The declaration of a file of the schema; undefined for other files. `file` is below src/, without its ending. */
export function profileDeclaration(root: string, file: string): string | undefined {
  if (file === FOLDER) {
    const schema = JSON.parse(readFileSync(join(root, "src", "agents", "contract", "profile.schema.json"), "utf8"));
    return `export type Profile = ${objectOf(whole(schema as { else?: Schema }))};\n`;
  }
  const section = file.startsWith(`${FOLDER}/`) ? SECTIONS[file.slice(FOLDER.length + 1)] : undefined;
  return section === undefined ? undefined : `import type { Profile } from "../schema.js";\n${section}`;
}

/** `else` describes a profile that is not like another one, or has everything of that one already. */
function whole({ else: profile }: { else?: Schema }): Schema {
  if (!profile?.properties) throw new Error("The schema of profiles has no whole profile.");
  return profile;
}

function typeOf(schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => `(${typeOf(choice)})`).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  switch (schema.type) {
    case "array":
      return `(${typeOf(schema.items ?? {})})[]`;
    case "object":
      return objectOf(schema);
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function objectOf({ properties, required = [], additionalProperties }: Schema): string {
  if (!properties)
    return `Record<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"}>`;
  const members = Object.entries(properties).map(([key, value]) =>
    required.includes(key)
      ? `${JSON.stringify(key)}: ${typeOf(value)};`
      : `${JSON.stringify(key)}?: ${typeOf(value)} | undefined;`,
  );
  return `{ ${members.join(" ")} }`;
}
