/**
 * Paths into an agent's JSON: `$.a.b`, names only. A name matches as written, or in snake_case, camelCase or
 * kebab-case. Paths follow only own properties, so no payload reaches a prototype. A text that is JSON itself, such as
 * the arguments of a tool, is looked into like an object.
 */
export function valueAt(root: unknown, path: string): unknown {
  return walk(root, path, opened);
}

function walk(root: unknown, path: string, open: (value: unknown) => unknown): unknown {
  if (path === "$") return root;
  // A hook reads a user's profile without checking it, so a path may be anything.
  if (typeof path !== "string" || !path.startsWith("$.")) return undefined;
  let value = root;
  for (const name of path.slice(2).split(".")) {
    value = property(open(value), name);
    if (value === undefined) return undefined;
  }
  return value;
}

/** The value of the first path that exists and is not null. */
export function firstAt(root: unknown, paths: readonly string[] | undefined): unknown {
  for (const path of paths ?? []) {
    const value = valueAt(root, path);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The first nonempty text at one of `paths`; a list counts by its first member. */
export function textAt(root: unknown, paths: readonly string[] | undefined): string | null {
  for (const path of paths ?? []) {
    const found = valueAt(root, path);
    const value: unknown = Array.isArray(found) ? found[0] : found;
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** `$`, or names joined by dots. */
export function isPath(path: string): boolean {
  return /^\$(?:\.[A-Za-z0-9_-]+)*$/.test(path);
}

/** The parent and name of the value at a path, so that the caller can replace the value. */
export function leafAt(root: unknown, path: string): { parent: Record<string, unknown>; name: string } | undefined {
  const dot = path.lastIndexOf(".");
  // JSON within a string can be read, but not replaced.
  const parent = dot < 0 ? undefined : walk(root, path.slice(0, dot), (value) => value);
  const name = ownName(parent, path.slice(dot + 1));
  return name === undefined ? undefined : { parent: parent as Record<string, unknown>, name };
}

function property(value: unknown, name: string): unknown {
  const own = ownName(value, name);
  return own === undefined ? undefined : (value as Record<string, unknown>)[own];
}

const MAX_JSON_LENGTH = 1 << 20;

/** A text that is a JSON object, as the object. */
function opened(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith("{") || value.length > MAX_JSON_LENGTH) return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The name as the object spells it. */
function ownName(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, name)) return name;
  return variantsOf(name).find((variant) => Object.hasOwn(value, variant));
}

function variantsOf(name: string): string[] {
  const words = wordsOf(name);
  const camel = words.map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
  return [words.join("_"), camel, words.join("-")].filter((variant) => variant !== name);
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_-]+/)
    .filter((word) => word !== "");
}

/** Compares two names regardless of spelling: `UserPromptSubmit` equals `user-prompt-submit`. */
export function sameName(a: string, b: string): boolean {
  return a === b || squeezed(a) === squeezed(b);
}

function squeezed(name: string): string {
  return name.replace(/[_-]/g, "").toLowerCase();
}
