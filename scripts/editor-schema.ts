/** The JSON Schema that editors read: src/agents/contract/profile.schema.json. */
import { profileJsonSchema } from "../src/agents/contract/schema.ts";
import { isRecord } from "../src/base/json.ts";

/**
 * For editors: a profile that is like another one needs only what differs, however deep that is, and null takes a key
 * away.
 */
export function editorSchema(): Record<string, unknown> {
  const { title, $schema, anyOf: _, required: __, ...rest } = profileJsonSchema();
  const [, { required }] = profileJsonSchema()["anyOf"] as [unknown, { required: string[] }];
  const isLike = { properties: { like: { type: "string" } }, required: ["like"] };
  const partly = { ...(withoutRequired(rest) as object), required: ["v", "id", "like"] };
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema has this key, and the object is never awaited.
  return { title, $schema, if: isLike, then: partly, else: { ...rest, required } };
}

function withoutRequired(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutRequired);
  if (!isRecord(schema)) return schema;
  const { required: _, properties, examples, ...rest } = schema;
  const relaxed = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutRequired(value)]));
  const shown = examples === undefined ? {} : { examples };
  if (!isRecord(properties)) return { ...relaxed, ...shown };
  const own = Object.entries(properties).map(([name, value]) => {
    const { description, ...inner } = withoutRequired(value) as Record<string, unknown>;
    return [name, { description, anyOf: [inner, { type: "null" }] }];
  });
  return { ...relaxed, ...shown, properties: Object.fromEntries(own) };
}
