/** Proposes where a line has its id, session, directory, time, model and tokens. */
import { isRecord } from "../../../base/json.ts";
import type { LineRule, LinesSection } from "../../contract/profile.ts";
import { holds } from "../../registry/conditions.ts";
import { valueAt } from "../../registry/paths.ts";
import type { Doubt } from "./doubts.ts";
import { counted, isText, leavesOf, squeezed } from "./walk.ts";

type Fields = Pick<
  LinesSection,
  "id" | "session_id" | "cwd" | "time" | "model" | "tokens" | "tokens_when" | "message_id"
>;

const COUNTS = {
  input: ["inputtokens", "prompttokens", "prompttokencount", "inputother", "input"],
  output: ["outputtokens", "completiontokens", "candidatestokencount", "output"],
  cache_read: [
    "cachereadinputtokens",
    "cachereadtokens",
    "cachedcontenttokencount",
    "inputcacheread",
    "cachedtokens",
    "cacheread",
  ],
  cache_write: ["cachecreationinputtokens", "cachewritetokens", "inputcachecreation", "cachewrite"],
} as const;
const WITH_CACHE = ["prompttokencount", "prompttokens"];

export function proposeLineFields(
  lines: readonly unknown[],
  document: unknown,
  rules: readonly LineRule[],
  known: { sessions: readonly string[]; cwd: string | null; model: string | null },
): Fields & { doubts: Doubt[] } {
  const everywhere = document === undefined ? lines : [document, ...lines];
  const ids = idPaths(lines, rules);
  const session = mostFrequent(everywhere, ({ value }) => known.sessions.includes(String(value)));
  const cwd = mostFrequent(everywhere, ({ value }) => known.cwd !== null && value === known.cwd, 2);
  const time = mostFrequent(
    lines,
    ({ key, value }) => /^(timestamp|time|ts|created_?at)$/i.test(key) && isTime(value),
    2,
  );
  const isModel = (value: unknown) => isText(value) && value.length < 100;
  const named = ({ key, parent }: { key: string; parent: string }) =>
    /^model(_?(id|name|alias))?$/i.test(key) || (key === "id" && /^model/i.test(parent));
  const model =
    shallowest(lines, (leaf) => named(leaf) && leaf.value === known.model && known.model !== null) ??
    shallowest(lines, (leaf) => named(leaf) && isModel(leaf.value));
  const tokens = tokenPaths(lines);
  return {
    ...(ids.length > 0 ? { id: ids } : {}),
    ...(session ? { session_id: [session] } : {}),
    ...(cwd ? { cwd: [cwd] } : {}),
    ...(time ? { time: [time] } : {}),
    ...(model ? { model: [model] } : {}),
    ...tokens,
  };
}

function mostFrequent(
  lines: readonly unknown[],
  fits: (leaf: { key: string; parent: string; value: unknown }) => boolean,
  deepest = 2,
): string | undefined {
  const paths = lines.flatMap((line) =>
    leavesOf(line, deepest)
      .filter(fits)
      .map(({ path }) => path),
  );
  return counted(paths)[0]?.[0];
}

/** Prefers the path nearest to the top, where the line speaks of itself. */
function shallowest(lines: readonly unknown[], fits: Parameters<typeof mostFrequent>[1]): string | undefined {
  for (const depth of [1, 2, 3]) {
    const path = mostFrequent(lines, fits, depth);
    if (path !== undefined) return path;
  }
  return undefined;
}

function isTime(value: unknown): boolean {
  if (typeof value === "number") return value > 1e12 && value < 1e14;
  return isText(value) && /^\d{4}-\d\d-\d\d/.test(value);
}

/** For each kind of line that a rule reads: the field that is different in each. */
function idPaths(lines: readonly unknown[], rules: readonly LineRule[]): string[] {
  const order = ["prompt", "answer", "tool-use", "tool-result"];
  const sorted = [...rules].sort((a, b) => order.indexOf(a.is) - order.indexOf(b.is));
  const paths: string[] = [];
  for (const rule of sorted.filter(({ is }) => order.includes(is))) {
    const own = lines.filter((line) => holds(rule.when, line));
    if (own.every((line) => paths.some((path) => isText(valueAt(line, path))))) continue;
    const candidates = counted(
      own.flatMap((line) =>
        leavesOf(line, 2)
          .filter(({ key, value }) => idRank(key) < 9 && isText(value))
          .map(({ path }) => path),
      ),
    )
      .filter(
        ([path, count]) => count === own.length && new Set(own.map((line) => valueAt(line, path))).size === own.length,
      )
      .sort(([a], [b]) => idRank(nameOf(a)) - idRank(nameOf(b)) || a.length - b.length);
    const best = candidates[0]?.[0];
    if (best && !paths.includes(best)) paths.push(best);
  }
  return paths;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** 9 for a name that is no id of a line. */
function idRank(key: string): number {
  if (/session|request|agent|turn|tool|call|runtime|workspace|user_?id|queue|thread|conversation|trace/i.test(key))
    return 9;
  if (/^uuid$/i.test(key)) return 0;
  if (/^id$/i.test(key)) return 1;
  if (/^parent/i.test(key)) return 8;
  if (/^(message|prompt|entry|record|event)_?(uu)?id$/i.test(key)) return 2;
  return /(uuid|_id|Id)$/.test(key) ? 7 : 9;
}

function tokenPaths(
  lines: readonly unknown[],
): Pick<Fields, "tokens" | "tokens_when" | "message_id"> & { doubts: Doubt[] } {
  const found = lines.flatMap((line, index) =>
    leavesOf(line, 4)
      .filter(({ value }) => isRecord(value) && isUsage(value))
      .map(({ path, value }) => ({ index, path, value: value as Record<string, unknown> })),
  );
  const byPath = counted(found.map(({ path }) => path)).sort((a, b) => b[1] - a[1] || a[0].length - b[0].length);
  const at = byPath[0]?.[0];
  if (at === undefined) return { doubts: [] };
  const own = found.filter(({ path }) => path === at);
  const keys = [...new Set(own.flatMap(({ value }) => Object.keys(value)))];
  const paths = (names: readonly string[]) =>
    keys.filter((key) => names.includes(squeezed(key))).map((key) => `${at}.${key}`);
  const input = paths(COUNTS.input);
  const nested = (names: readonly string[]) => {
    const deep = own.flatMap(({ value }) => leavesOf(value, 2)).filter((leaf) => typeof leaf.value === "number");
    return counted(deep.filter(({ key }) => names.includes(squeezed(key))).map(({ path }) => `${at}${path.slice(1)}`))
      .map(([path]) => path)
      .slice(0, 1);
  };
  const [cached, written] = [COUNTS.cache_read, COUNTS.cache_write].map((names) => {
    const shallow = paths(names);
    return shallow.length > 0 ? shallow : nested(names);
  }) as [string[], string[]];
  const hasCache = WITH_CACHE.includes(squeezed(nameOf(input[0] ?? "")));
  const isOpen = cached.length > 0 && !hasCache && !/^(input_tokens|inputOther)$/.test(nameOf(input[0] ?? ""));
  return {
    tokens: {
      ...(input.length > 0 ? { input } : {}),
      output: paths(COUNTS.output),
      ...(cached.length > 0 ? { cache_read: cached } : {}),
      ...(written.length > 0 ? { cache_write: written } : {}),
      ...(hasCache || isOpen ? { input_has_cache: true } : {}),
    },
    ...repeated(lines, own),
    doubts: isOpen ? [{ kind: "cache-in-input", key: "transcript.lines.tokens.input_has_cache" }] : [],
  };
}

function isUsage(value: Record<string, unknown>): boolean {
  const names = Object.entries(value).flatMap(([key, count]) => (typeof count === "number" ? [squeezed(key)] : []));
  return [COUNTS.input, COUNTS.output].every((wanted) =>
    names.some((name) => (wanted as readonly string[]).includes(name)),
  );
}

/** Several lines of one message repeat its usage: they share the message's id. */
function repeated(
  lines: readonly unknown[],
  usages: readonly { index: number; path: string }[],
): Pick<Fields, "message_id"> {
  const parent = usages[0]?.path.replace(/\.[^.]+$/, "") ?? "$";
  const path = `${parent}.id`;
  const ids = usages.map(({ index }) => valueAt(lines[index], path)).filter(isText);
  return parent !== "$" && ids.length === usages.length && new Set(ids).size < ids.length ? { message_id: [path] } : {};
}
