/** Finds what Kubernetes secrets and Terraform's state declare to be secret, whatever its name is. */

import type { Span } from "./blocks.ts";
import { isStandIn } from "./value.ts";

/** How far the fields of one object are looked for, to each side. */
const WINDOW = 4_000;
const LINE = /(?:\\{1,8}r)?\\{1,8}n|\r?\n/;
const STRING = String.raw`\\*"((?:[^"\\]|\\[nrt/]){4,4000})\\*"`;
const VALUES = new RegExp(String.raw`:\s*${STRING}|(?<=[[,]\s*)${STRING}(?!\s*:)`, "g");

/** Fields that identify such a manifest: keys in JSON, and `kind` with the value `Secret`. */
export const DECLARES = /^sensitive(?:_values|_attributes)?$/;

/** The values around a declaration between `start` and `end`, and where the text that was read ends. */
export function declaredAround(
  bytes: Buffer,
  from: number,
  start: number,
  end: number,
  to: number,
): { spans: Span[]; end: number } {
  const first = Math.max(from, start - WINDOW);
  const last = Math.min(to, end + WINDOW);
  const text = bytes.toString("latin1", first, last);
  const [at, after] = [start - first, end - first];
  const word = text.slice(at, after).toLowerCase();
  if (word === "random_password") return shifted(namedValues(text, ["result"], after, text.length), first, end);
  if (word.startsWith("sensitive")) return shifted(sensitive(text, at, after), first, end);
  return kubernetes(text, at, after, first, last);
}

function kubernetes(
  text: string,
  at: number,
  after: number,
  first: number,
  last: number,
): { spans: Span[]; end: number } {
  const inYaml = /^kind/i.test(text.slice(at, after));
  if (inYaml) {
    const begin = Math.max(0, ...[...text.slice(0, at).matchAll(/(?:\n|\\n)---/g)].map(({ index }) => index + 4));
    const rest = /(?:\n|\\n)---/.exec(text.slice(after));
    const end = rest ? after + rest.index : text.length;
    return { spans: moved(yamlValues(text.slice(begin, end), begin), first), end: rest ? first + end : last };
  }
  const isKind = /kind\\*"\s*:\s*\\*$/i.test(text.slice(Math.max(0, at - 24), at));
  const object = isKind ? enclosing(text, at) : undefined;
  if (!object) return { spans: [], end: first + after };
  const spans: Span[] = [];
  for (const match of text.slice(object.start, object.end).matchAll(/"(?:stringData|data)\\*"\s*:\s*\{([^{}]*)\}/g)) {
    const begin = object.start + match.index + match[0].lastIndexOf("{");
    spans.push(...strings(text, begin, object.start + match.index + match[0].length));
  }
  return { spans: moved(spans, first), end: first + object.end };
}

/** The values below `data:` and `stringData:`. */
function yamlValues(text: string, offset: number): Span[] {
  const spans: Span[] = [];
  let inside: number | undefined;
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const cut = LINE.exec(rest);
    const line = cut ? rest.slice(0, cut.index) : rest;
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    if (line.trim() !== "" && inside !== undefined && indent <= inside) inside = undefined;
    if (inside !== undefined) {
      // A line of a block has no name.
      const match = /^\s*(?:["']?[\w.-]+["']?:(?:\s+|$)(?:[|>][-+\d]*\s*$)?)?\\*["']?([^\s"'#\\][^"'\\]*)?/.exec(line);
      const value = withoutComment(match?.[1] ?? "");
      if (isValue(value)) spans.push(spanOf(value, offset + at, line));
    }
    if (/^\s*(?:- )?(?:stringData|data):\s*$/.test(line)) inside = indent;
    at += line.length + (cut?.[0].length ?? 1);
  }
  return spans;
}

function withoutComment(text: string): string {
  const at = text.search(/\s#/);
  return (at < 0 ? text : text.slice(0, at)).trimEnd();
}

function spanOf(value: string, at: number, line: string): Span {
  const start = at + line.lastIndexOf(value);
  return { start, end: start + value.length };
}

/** `"sensitive": true`, `"sensitive_values": {…}`, `"sensitive_attributes": […]`. */
function sensitive(text: string, at: number, after: number): Span[] {
  const rest = text.slice(after);
  if (/^\\*"\s*:\s*true/.test(rest)) {
    const object = enclosing(text, at);
    const value = object && /"value\\*"\s*:\s*/.exec(text.slice(object.start, object.end));
    if (!object || !value) return [];
    const begin = object.start + value.index + value[0].length;
    const isNested = text[begin] === "{" || text[begin] === "[";
    if (isNested) return strings(text, begin, closing(text, begin) ?? object.end);
    return namedValues(text, ["value"], object.start, object.end);
  }
  const list = /^_(values|attributes)\\*"\s*:\s*(?=[{[])/.exec(rest);
  if (!list) return [];
  const object = enclosing(text, at) ?? { start: 0, end: text.length };
  const begin = after + list[0].length;
  const said = text.slice(begin, closing(text, begin) ?? object.end);
  const name = list[1] === "values" ? /"([\w-]+)\\*"\s*:\s*true/g : /"value\\*"\s*:\s*\\*"([\w-]+)/g;
  const names = [...said.matchAll(name)].map((match) => match[1] ?? "");
  return names.length > 0 ? namedValues(text, names, object.start, object.end) : [];
}

function namedValues(text: string, names: readonly string[], start: number, end: number): Span[] {
  const pattern = new RegExp(String.raw`"?(?:${names.join("|")})\\*"?\s*[:=]\s*${STRING}`, "g");
  return [...text.slice(start, end).matchAll(pattern)].flatMap((match) => {
    const value = match[1] ?? "";
    const at = start + match.index + match[0].lastIndexOf(value);
    return isValue(value) ? [{ start: at, end: at + value.length }] : [];
  });
}

function strings(text: string, start: number, end: number): Span[] {
  return [...text.slice(start, end).matchAll(VALUES)].flatMap((match) => {
    const value = match[1] ?? match[2] ?? "";
    const at = start + match.index + match[0].lastIndexOf(value);
    return isValue(value) ? [{ start: at, end: at + value.length }] : [];
  });
}

function isValue(value: string): boolean {
  return value.length >= 4 && !value.startsWith("[secret:") && !isStandIn(value) && !/^[\d.]+$/.test(value);
}

/** The object around `at`, without its braces; a brace in a string counts too. */
function enclosing(text: string, at: number): Span | undefined {
  let depth = 0;
  for (let start = at; start >= 0; start--) {
    if (text[start] === "}") depth++;
    else if (text[start] === "{" && depth-- === 0) return { start, end: closing(text, start) ?? text.length };
  }
  return undefined;
}

function closing(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "{" || text[at] === "[") depth++;
    else if ((text[at] === "}" || text[at] === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}

function shifted(spans: readonly Span[], by: number, end: number): { spans: Span[]; end: number } {
  return { spans: moved(spans, by), end };
}

function moved(spans: readonly Span[], by: number): Span[] {
  return spans.map(({ start, end }) => ({ start: start + by, end: end + by }));
}
