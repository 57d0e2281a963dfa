/** Walks through recorded JSON: every value with its path, and words in names. */
import { isRecord } from "../../../base/json.ts";

export interface Leaf {
  path: string;
  key: string;
  /** The name of the object that has the key; "" at the top. */
  parent: string;
  value: unknown;
  depth: number;
}

const MAX_LEAVES = 2_000;
/** A name that a path can contain. */
const NAME = /^[A-Za-z0-9_-]+$/;

/** All values but those in lists, the shallowest first. */
export function leavesOf(root: unknown, deepest = 4): Leaf[] {
  const found: Leaf[] = [];
  let level: [value: unknown, path: string, parent: string][] = [[root, "$", ""]];
  for (let depth = 1; depth <= deepest && level.length > 0; depth++) {
    const next: typeof level = [];
    for (const [value, path, parent] of level) {
      if (!isRecord(value)) continue;
      for (const [key, inner] of Object.entries(value)) {
        if (!NAME.test(key) || found.length >= MAX_LEAVES) continue;
        found.push({ path: `${path}.${key}`, key, parent, value: inner, depth });
        next.push([inner, `${path}.${key}`, key]);
      }
    }
    level = next;
  }
  return found;
}

/** `hookEventName`, `hook_event_name` and `hook-event-name` are one name. */
export function squeezed(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, "").toLowerCase();
}

/** The lowercase words of a name: `PreToolUse` → pre, tool, use. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** A text, or the texts of a list of blocks. */
export function proseOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return null;
  const texts = value.map((part) => (typeof part === "string" ? part : isRecord(part) ? part["text"] : undefined));
  const found = texts.filter(isText);
  return found.length > 0 ? found.join("\n") : null;
}

/** How often each value occurs, the most frequent first. */
export function counted<T>(values: Iterable<T>): [value: T, count: number][] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
