/** Words the problems that the schema finds: the place, the problem, and a suggestion. */
import { isRecord } from "../../../base/json.ts";
import { closest, oneLine, shorten } from "../../../base/text.ts";

interface Issue {
  code?: string | undefined;
  path: readonly PropertyKey[];
  message: string;
  keys?: readonly string[];
  errors?: readonly (readonly Issue[])[];
}

const MAX_EXAMPLE = 160;
const MAX_PROBLEMS = 50;

export function explain(issues: readonly Issue[], value: unknown, schema: Record<string, unknown>): string[] {
  const problems = issues.flatMap((issue) => explained(issue, value, schema));
  return [...new Set(problems)].slice(0, MAX_PROBLEMS);
}

function explained(issue: Issue, value: unknown, schema: Record<string, unknown>): string[] {
  const at = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(propertiesAt(schema, at));
    return (issue.keys ?? []).map((name) => {
      const near = closest(name, known);
      const hint = near ? `did you mean ${near}?` : `known keys here: ${known.join(", ")}`;
      return `${place([...at, name])}: unknown key; ${hint}`;
    });
  }
  if (at.length > 0 && valueAt(value, issue.path) === undefined) {
    const example = exampleAt(schema, at);
    return [withExample(`${place(at)}: missing`, example)];
  }
  const found = valueAt(value, issue.path);
  const format = isRecord(found) ? found["format"] : undefined;
  const formats = optionsAt(schema, [...at, "format"]);
  if (issue.code === "invalid_union" && typeof format === "string" && formats.length > 0 && !formats.includes(format)) {
    return [`${place([...at, "format"])}: ${oneOf(formats)}`];
  }
  const nested = bestBranch(issue, value);
  if (nested)
    return nested.flatMap((each) => explained({ ...each, path: [...issue.path, ...each.path] }, value, schema));
  const options = optionsAt(schema, at);
  const message =
    isScalar(found) && options.length > 0 ? oneOf(options) : issue.message.replace(/^Invalid input: /, "");
  const isWrongKind = issue.code === "invalid_type" || issue.code === "invalid_union";
  const example = isWrongKind ? exampleAt(schema, at) : undefined;
  return [withExample(`${place(at)}: ${message}`, example)];
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function oneOf(options: readonly unknown[]): string {
  const names = options.map((each) => JSON.stringify(each));
  return `expected ${[names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" or ")}`;
}

function withExample(text: string, example: string | undefined): string {
  return example === undefined ? text : `${text}; for example ${example}`;
}

/** The values that the schema names at a path. */
function optionsAt(schema: unknown, path: readonly string[]): unknown[] {
  return schemaAt(schema, path).flatMap((each) => {
    const all = each["enum"];
    return "const" in each ? [each["const"]] : Array.isArray(all) ? all : [];
  });
}

/** Of a union, the alternative that the value comes closest to: the one whose literal keys match. */
function bestBranch(issue: Issue, value: unknown): readonly Issue[] | undefined {
  if (issue.code !== "invalid_union" || !issue.errors) return undefined;
  if (!isRecord(valueAt(value, issue.path))) return undefined;
  const ranked = issue.errors
    .filter((branch) => branch.every(({ path, code }) => path.length > 0 || code === "unrecognized_keys"))
    .filter((branch) => !branch.some(({ path }) => path.at(-1) === "format"))
    .sort((a, b) => a.length - b.length);
  return ranked[0];
}

function place(path: readonly string[]): string {
  return path.map((part) => shorten(oneLine(part), 80)).join(".") || "the file";
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

/** The JSON Schema of the value at a path. */
function schemaAt(schema: unknown, path: readonly string[]): Record<string, unknown>[] {
  let found = alternatives(schema);
  for (const part of path) {
    found = found.flatMap((each) => {
      const properties = each["properties"];
      if (isRecord(properties) && Object.hasOwn(properties, part)) return alternatives(properties[part]);
      if (/^\d+$/.test(part)) return alternatives(each["items"]);
      return alternatives(each["additionalProperties"]);
    });
  }
  return found;
}

function alternatives(schema: unknown): Record<string, unknown>[] {
  if (!isRecord(schema)) return [];
  const any = schema["anyOf"];
  return Array.isArray(any) && !("properties" in schema) ? [schema, ...any.flatMap(alternatives)] : [schema];
}

function propertiesAt(schema: unknown, path: readonly string[]): Record<string, unknown> {
  const all = schemaAt(schema, path).map((each) => each["properties"]);
  return Object.assign({}, ...all.filter(isRecord)) as Record<string, unknown>;
}

function exampleAt(schema: unknown, path: readonly string[]): string | undefined {
  for (const each of schemaAt(schema, path)) {
    const examples = each["examples"];
    if (!Array.isArray(examples) || examples.length === 0) continue;
    return shorten(`"${path.at(-1)}": ${JSON.stringify(examples[0])}`, MAX_EXAMPLE);
  }
  return undefined;
}
