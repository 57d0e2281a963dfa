/** Every regular expression of the source and of the profiles, and texts that are made to keep each of them busy. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Pattern {
  where: string;
  regex: RegExp;
}

const source = join(import.meta.dirname, "..", "..", "src");

export function patterns(): Pattern[] {
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).sort();
  return names.flatMap((name): Pattern[] => {
    const path = join(source, name);
    if (name.endsWith("profile.json")) return inProfile(name, JSON.parse(readFileSync(path, "utf8")));
    if (!/\.(ts|js)$/.test(name) || /\.(test|d)\.ts$/.test(name)) return [];
    return literals(readFileSync(path, "utf8")).map((regex) => ({ where: `src/${name}`, regex }));
  });
}

function inProfile(name: string, value: unknown): Pattern[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === "regex" && typeof child === "string"
      ? [{ where: `src/${name}`, regex: new RegExp(child) }]
      : inProfile(name, child),
  );
}

/** What stands before a slash that begins a regular expression, and not a division. */
const BEFORE = /(?:^|[(,=:[!&|?{};+~^>]|\b(?:return|typeof|case|in|of))\s*$/;

/** Regular expressions in a source text: enough of the language to pass over comments and texts. */
export function literals(text: string): RegExp[] {
  const found: RegExp[] = [];
  let line = "";
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 2);
    if (rest === "//") at = endOf(text, "\n", at);
    else if (rest === "/*") at = endOf(text, "*/", at) + 1;
    else if (rest[0] === '"' || rest[0] === "'") {
      at = endOfText(text, at);
      line += '"';
    } else if (rest[0] === "`") {
      at = endOfTemplate(text, at);
      line += '"';
    } else if (rest[0] === "/" && BEFORE.test(line)) {
      const end = endOfPattern(text, at);
      const flags = /^[a-z]*/.exec(text.slice(end))?.[0] ?? "";
      found.push(new RegExp(text.slice(at + 1, end - 1), flags.replace("g", "").replace("y", "")));
      at = end + flags.length;
      line += "/";
    } else {
      line = rest[0] === "\n" ? "" : line + rest[0];
      at++;
    }
  }
  return found;
}

function endOf(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? text.length : at + what.length - 1;
}

function endOfText(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote || text[at] === "\n") return at + 1;
  }
  return text.length;
}

/** With what is put into it, which may hold templates again. */
function endOfTemplate(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") return at + 1;
    else if (text.startsWith("${", at)) at = endOfPlace(text, at + 2);
  }
  return text.length;
}

function endOfPlace(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "`") at = endOfTemplate(text, at) - 1;
    else if (text[at] === '"') at = endOfText(text, at) - 1;
    else if (text[at] === "/" && BEFORE.test(text.slice(from, at))) at = endOfPattern(text, at) - 1;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}" && depth-- === 0) return at;
  }
  return text.length;
}

function endOfPattern(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "[") inClass = true;
    else if (text[at] === "]") inClass = false;
    else if (text[at] === "/" && !inClass) return at + 1;
  }
  return text.length;
}

/** What a pattern would like to read, over and over, in every part of it: pieces to be repeated. */
export function pumps({ source: text }: RegExp): string[] {
  const pieces = new Set([" ", "\n", "a", "0", "/", "-", "\\", '"']);
  for (const [, escaped, plain] of text.matchAll(/\\(u[0-9a-f]{4}|.)|([^\\()[\]{}*+?|^$])/gi)) {
    const piece =
      plain ??
      MEANS[escaped ?? ""] ??
      (escaped?.length === 5 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : escaped);
    if (piece) pieces.add(piece);
  }
  const single = [...pieces].slice(0, 24);
  // Fixed words (`scheme://`, `Entire-Checkpoint:`) have to be there whole before what follows is tried.
  const words = text.match(/[A-Za-z][\w:/-]{2,}/g) ?? [];
  const pairs = single.slice(0, 8).flatMap((a) => single.slice(0, 8).map((b) => a + b));
  return [...single, ...words, ...pairs];
}

const MEANS: Record<string, string> = {
  d: "0",
  w: "a",
  s: " ",
  S: "a",
  D: "a",
  W: " ",
  n: "\n",
  r: "\r",
  t: "\t",
  b: "",
};

/** Milliseconds of the processor until the pattern has given up on a text. */
export function cost(regex: RegExp, text: string): number {
  const before = process.cpuUsage();
  regex.test(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
