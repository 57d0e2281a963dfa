/**
 * Regular expressions of profiles, in linear time whatever the expression and the text are: a profile may come from
 * anyone. Simple expressions run natively, because loading the other engine costs a hook more than all its work.
 */
import type { RE2JS } from "re2js";

/** A longer text is no name, path or id. */
const MAX_TEXT = 4096;
const MAX_PROMPT = 1 << 20;

const KEYS = new Set(["regex", "matches", "prompt_text", "session_pattern"]);

const compiled = new Map<string, RegExp | RE2JS | null>();
let engine: typeof RE2JS | undefined;

/** Loads the other engine if an expression of the profile needs it. Without it, such an expression never matches. */
export async function loadEngineFor(profile: unknown): Promise<void> {
  if (engine === undefined && needsEngine(profile)) engine = (await import("re2js")).RE2JS;
}

function needsEngine(value: unknown, key = ""): boolean {
  if (typeof value === "string") return KEYS.has(key) && !isSimple(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, part]) => needsEngine(part, name));
}

/** False also for a broken expression. */
export function matches(pattern: string, text: string): boolean {
  if (text.length > MAX_TEXT) return false;
  const regex = compile(pattern);
  return regex instanceof RegExp ? regex.test(text) : (regex?.matcher(text).find() ?? false);
}

/** The first group, or the whole match of an expression without groups; null if it does not match. */
export function firstGroup(pattern: string, text: string): string | null {
  if (text.length > MAX_PROMPT) return null;
  const regex = compile(pattern);
  if (regex === null) return null;
  if (regex instanceof RegExp) {
    const found = regex.exec(text);
    return found ? (found[1] ?? found[0]) : null;
  }
  const matcher = regex.matcher(text);
  if (!matcher.find()) return null;
  return matcher.groupCount() > 0 ? (matcher.group(1) ?? "") : matcher.group(0);
}

function compile(pattern: string): RegExp | RE2JS | null {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (!isSimple(pattern) && engine === undefined) return null;
  let regex: RegExp | RE2JS | null;
  try {
    regex = isSimple(pattern) || engine === undefined ? new RegExp(pattern) : engine.compile(pattern);
  } catch {
    regex = null;
  }
  compiled.set(pattern, regex);
  return regex;
}

/** No group is repeated and at most one part is unbounded, so that backtracking stays within one pass over the text. */
function isSimple(pattern: string): boolean {
  const bare = pattern.replace(/\\./g, "x").replace(/\[[^[\]]*\]/g, "x");
  const unbounded = bare.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  return unbounded <= 1 && !/\)[*+{]/.test(bare) && !/\(\?[=!<]/.test(bare);
}
