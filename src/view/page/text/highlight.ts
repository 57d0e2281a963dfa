/**
 * Syntax colors by language family, one line at a time: comments, strings, numbers, keywords, names of functions and
 * types. Lines are independent, so that a diff can color any line without reading the file from its start.
 */

type TokenKind = "comment" | "string" | "number" | "keyword" | "function" | "type" | "tag" | "key" | "plain";
export type Token = readonly [kind: TokenKind, text: string];

interface Family {
  /** Alternatives in order; the name of the group is the kind. */
  pattern: RegExp;
  keywords: ReadonlySet<string>;
  /** Lines that continue a block comment. */
  continued?: RegExp;
}

const STRING = `"(?:\\\\.|[^"\\\\])*"?|'(?:\\\\.|[^'\\\\])*'?`;
const NUMBER = "\\b(?:0[xXbBoO][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)[a-zA-Z]?\\b";
const WORD = "[A-Za-z_$][\\w$]*";

function family(comment: string, keywords: string, extra: { string?: string; continued?: RegExp } = {}): Family {
  const string = extra.string ?? STRING;
  return {
    pattern: new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<number>${NUMBER})|(?<word>${WORD})`, "g"),
    keywords: new Set(keywords.split(" ")),
    ...(extra.continued ? { continued: extra.continued } : {}),
  };
}

const C_WORDS =
  "abstract as async await bool boolean break case catch char class const continue debugger declare def default defer delete do double dyn else enum export extends extern false final finally float fn for foreach from func fun function get go goto if impl implements import in inline instanceof int interface internal is let long loop match mod module mut namespace native new nil none null object of operator override package private protected pub public readonly ref return sealed select self set short sizeof static struct super switch template this throw throws trait true try type typedef typeof undefined union unsafe unsigned use using val var virtual void volatile when where while with yield";
const SCRIPT_WORDS =
  "and as assert async await begin break case class continue def del do done elif else elsif end ensure esac except exit export false fi finally for from function global if import in is lambda local match module nil none None nonlocal not null or pass print raise require rescue return self set source then true True False try unless until when while with yield";
const SQL_WORDS =
  "add all alter and as asc begin between by case commit constraint create database default delete desc distinct drop else end exists false foreign from function group having if in index inner insert into is join key left like limit local nil not null on or order primary references repeat return right rollback select set table then true union unique until update values view when where while with";

const FAMILIES = {
  c: family("//.*|/\\*.*?(?:\\*/|$)", C_WORDS, {
    string: `${STRING}|\`(?:\\\\.|[^\`\\\\])*\`?`,
    continued: /^\s*\*(?:\s|\/|$)/,
  }),
  script: family("(?<![\\w$&])#.*", SCRIPT_WORDS),
  sql: family("--.*|/\\*.*?(?:\\*/|$)", SQL_WORDS),
  css: family("/\\*.*?(?:\\*/|$)", "important media supports import from to layer container keyframes"),
  data: family("(?<![\\w$])#.*|//.*", "true false null yes no on off"),
} satisfies Record<string, Family>;

/** The comment is split so that this script can be inside an exported HTML file. */
const MARKUP = /(?<comment>[<]!--.*?(?:-->|$))|(?<tag><\/?[A-Za-z][\w:.-]*|\/?>)|(?<string>"[^"]*"?|'[^']*'?)/g;

type FamilyName = keyof typeof FAMILIES | "markup" | "plain";

const EXTENSIONS: Record<string, FamilyName> = {};
for (const [name, extensions] of Object.entries({
  c: "ts tsx js jsx mjs cjs mts cts go rs java c h cc cpp hpp cs php swift kt kts scala dart zig proto glsl groovy m",
  script: "py rb sh bash zsh fish pl r ex exs nim jl make mk dockerfile ps1 cmake",
  sql: "sql lua hs elm",
  css: "css scss sass less",
  data: "json jsonc json5 yaml yml toml ini conf properties env gitignore lock tf hcl",
  markup: "html htm xml svg vue svelte astro plist",
}))
  for (const extension of extensions.split(" ")) EXTENSIONS[extension] = name as FamilyName;

/** The language family of a file, or of a code block's language. */
export function familyOf(path: string): FamilyName {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const extension = name.slice(name.lastIndexOf(".") + 1);
  const named = { javascript: "c", typescript: "c", rust: "c", python: "script", ruby: "script", shell: "script" };
  return EXTENSIONS[extension] ?? (named as Record<string, FamilyName>)[extension] ?? "plain";
}

/** The tokens of one line; their texts joined are the line. */
export function highlight(text: string, name: FamilyName): Token[] {
  if (name === "plain" || text.length === 0) return [["plain", text]];
  const language = name === "markup" ? undefined : FAMILIES[name];
  if (language?.continued?.test(text)) return [["comment", text]];
  const pattern = language?.pattern ?? MARKUP;
  const tokens: [TokenKind, string][] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "") continue;
    if (match.index > end) push(tokens, "plain", text.slice(end, match.index));
    end = match.index + match[0].length;
    push(tokens, kindOf(match, text.slice(end, end + 3), language, name), match[0]);
  }
  if (end < text.length) push(tokens, "plain", text.slice(end));
  return tokens;
}

function kindOf(match: RegExpMatchArray, next: string, language: Family | undefined, name: FamilyName): TokenKind {
  const groups = match.groups ?? {};
  if (groups["comment"] !== undefined) return "comment";
  if (groups["tag"] !== undefined) return "tag";
  if (groups["string"] !== undefined) return name === "data" && /^\s*:/.test(next) ? "key" : "string";
  if (groups["number"] !== undefined) return "number";
  const word = match[0];
  if (language?.keywords.has(name === "sql" ? word.toLowerCase() : word)) return "keyword";
  if ((name === "data" || name === "css") && /^\s*[:=]/.test(next)) return "key";
  if (next.startsWith("(")) return "function";
  return /^[A-Z][a-z]/.test(word) ? "type" : "plain";
}

/** Neighbors of one kind become one token: fewer elements on the page. */
function push(tokens: [TokenKind, string][], kind: TokenKind, text: string): void {
  const last = tokens.at(-1);
  if (last?.[0] === kind) last[1] += text;
  else tokens.push([kind, text]);
}
