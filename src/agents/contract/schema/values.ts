/** The small values that the sections of a profile share: names, paths into JSON, file paths, words, conditions. */
import * as z from "zod/mini";

export const name = z.string().check(z.minLength(1), z.maxLength(200));
export const sentence = z.string().check(z.minLength(1), z.maxLength(500));
/** Lowercase letters, digits and hyphens, so that it can become a file name or an argument. */
export const word = z
  .string()
  .check(z.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "must be lowercase letters, digits and hyphens"));
export const program = z
  .string()
  .check(z.regex(/^[A-Za-z0-9._][A-Za-z0-9._-]*$/, "must be a program's name without a path"));

export const jsonPath = z
  .string()
  .check(z.regex(/^\$(?:\.[A-Za-z0-9_-]+)*$/, "must be a path such as $.tool_input.file_path"));
export const jsonPaths = z.array(jsonPath).check(z.minLength(1));

export const variable = z
  .string()
  .check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable"));
export const variables = z.array(variable).check(z.minLength(1));

/** A relative path without `..`. */
export const insidePath = z
  .string()
  .check(
    z.maxLength(500),
    z.regex(
      /^(?!\/|[A-Za-z]:)(?!.*(?:^|\/)\.\.?(?:\/|$))[^\\\0]+$/,
      "must be a relative path that stays below its directory, without `..`",
    ),
  );

export const words = z.array(name).check(z.minLength(1));
export const pattern = z.string().check(z.minLength(1), z.maxLength(500));

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
/** One value, one of several, or a test of the value. */
const condition = z.union([
  scalar,
  z.array(scalar).check(z.minLength(1)),
  z.strictObject({
    exists: optionalKey(z.boolean(), "Whether the value is there.", true),
    not: optionalKey(z.union([scalar, z.array(scalar).check(z.minLength(1))]), "What the value must not be.", true),
    matches: optionalKey(pattern, "What the text must match.", "^qwen"),
  }),
]);
export const conditions = z.record(jsonPath, condition);

export type Scalar = z.infer<typeof scalar>;
export type Condition = z.infer<typeof condition>;
/** Paths and what their values must be. All must hold. Null also matches a missing path. */
export type Conditions = Record<string, Condition | undefined>;

export const tokenPaths = z.strictObject({
  input: optionalKey(jsonPaths, "What the model was given.", ["$.usage.input_tokens"]),
  output: optionalKey(jsonPaths, "What it said.", ["$.usage.output_tokens"]),
  cache_read: optionalKey(jsonPaths, "What was read from the cache.", ["$.usage.cache_read_input_tokens"]),
  cache_write: optionalKey(jsonPaths, "What was written to it.", ["$.usage.cache_creation_input_tokens"]),
  input_has_cache: optionalKey(z.boolean(), "The input includes the cached tokens.", true),
});
export type TokenPaths = z.infer<typeof tokenPaths>;

/** A key's schema with the line and the example that the documentation shows. */
export function key<T extends z.ZodMiniType>(schema: T, description: string, ...examples: unknown[]): T {
  return schema.check(z.meta({ description, ...(examples.length > 0 ? { examples } : {}) })) as T;
}

/** The same for a key that may be missing. */
export function optionalKey<T extends z.ZodMiniType>(schema: T, description: string, ...examples: unknown[]) {
  return z.optional(key(schema, description, ...examples));
}
