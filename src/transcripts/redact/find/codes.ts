/** Finds recovery codes, setup keys, and what a script types at a prompt for a password. */

import type { Span } from "./blocks.ts";
import { isReference, isScrambledLetters, isStandIn, isTechnical, isWordy } from "./value.ts";

const MAX_CODES = 800;

/** The words before a list of codes. */
export const CODE_WORDS: readonly string[] = ["recovery", "backup", "scratch"].flatMap((word) =>
  [" ", "_", "-", ""].map((join) => `${word}${join}code`),
);
export const CODE_KEY_WORDS: readonly string[] = ["recovery key", "setup key", "recovery_key", "setup_key"];

/** Names of the field of a list of codes. */
export const LISTS_CODES = /^(?:\w+_)?(?:recovery|backup|scratch)[_-]?codes?$/i;

const HEAD =
  /^s?\\{0,8}["'`]?(?: \([^()\n]{0,40}\))?(?: (?:for|to|in|from) [\w'@ .-]{1,40}?)?(?: ?(?:[:=]|(?:are|is)\b:?)|(?=[^\S\n]{0,40}(?:\n|\\{1,8}n)))/i;
const BETWEEN = /(?:\\{1,8}[nrt]|[\s,;|[\]"'`>*•\\-]|\d{1,2}[.)](?=\s))*/y;
const CODE =
  /(?:[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,8}|\d{3,6}(?: \d{3,6}){1,8}|[A-Za-z2-7]{4}(?: [A-Za-z2-7]{4}){3,15}|[A-Za-z0-9]{8,16})(?![\w-])/y;

/** The codes after the word that ends at `end`. */
export function codesAfter(bytes: Buffer, end: number, to: number): Span[] {
  const text = bytes.toString("latin1", end, Math.min(to, end + MAX_CODES));
  const spans: Span[] = [];
  let at = HEAD.exec(text)?.[0].length ?? text.length;
  let shape = "";
  while (at < text.length) {
    BETWEEN.lastIndex = at;
    CODE.lastIndex = at + (BETWEEN.exec(text)?.[0].length ?? 0);
    const code = CODE.exec(text)?.[0];
    if (code === undefined) break;
    const isLike = shape !== "" && code.replace(/\w/g, "x") === shape;
    if (!(isLike || isCode(code)) || isStandIn(code) || isTechnical(code)) break;
    shape = code.replace(/\w/g, "x");
    spans.push({ start: end + CODE.lastIndex - code.length, end: end + CODE.lastIndex });
    at = CODE.lastIndex;
  }
  return spans;
}

function isCode(code: string): boolean {
  if (/^\d{4}-\d{2}|^(?:19|20)\d{6}$/.test(code)) return false;
  return /\d/.test(code) || (/^[A-Z]{4}(?:[- ][A-Z]{4})+$/.test(code) && !isWordy(code));
}

/** What a script sends within a few words of a prompt for a password: `expect "assword:"⏎send "…\r"`. */
export function typedAfter(bytes: Buffer, from: number, start: number, end: number, to: number): Span | undefined {
  const before = bytes.toString("latin1", Math.max(from, start - 120), start);
  if (!/assw(?:or)?d|passphrase/i.test(before)) return undefined;
  const match = /^(?:\s*--)?\s*b?\\*["']([^"'\\\s]{4,128})(?=[\\"'])/.exec(
    bytes.toString("latin1", end, Math.min(to, end + 160)),
  );
  const value = match?.[1] ?? "";
  if (!match || isStandIn(value) || isReference(value) || !/\w{3}/.test(value)) return undefined;
  return { start: end + match[0].length - value.length, end: end + match[0].length };
}

/** `Passwort`, `mot de passe`: only values with letters and digits, because labels are written the same way. */
export function foreignAfter(bytes: Buffer, end: number, to: number): Span | undefined {
  const match = FOREIGN.exec(bytes.toString("latin1", end, Math.min(to, end + 160)));
  const value = match?.[1]?.replace(/[.,;:)\]]{1,8}$/, "") ?? "";
  if (!match || isStandIn(value) || isReference(value) || isTechnical(value)) return undefined;
  if (!isScrambledLetters(value) && !(/\d/.test(value) && /[A-Za-z]/.test(value))) return undefined;
  const start = end + match[0].length - (match[1]?.length ?? 0);
  return { start, end: start + value.length };
}

/** Up to two words may describe its purpose; ` est `, ` ist ` and the like, or a colon (also a wide one). */
const FOREIGN =
  /^(?: [^\s:=]{1,24}){0,4}?(?: ?(?:[:=]|\u00ef\u00bc\u009a)| (?:ist|lautet|est|es|\u00c3\u00a9|\u00c3\u00a8|is|jest|\u00d1\u008d\u00d1\u0082\u00d0\u00be)(?: jetzt| maintenant| ahora)?:?|(?:\u00e6\u0098\u00af|\u00e3\u0081\u00af)) ?\\*["'`]?([^\s"'`<>\\]{6,80})/;

export const FOREIGN_WORDS: readonly string[] = [
  "passwort",
  "kennwort",
  "mot de passe",
  "contraseña",
  "contrasena",
  "senha",
  "wachtwoord",
  "hasło",
  "lösenord",
  "пароль",
  "Пароль",
  "密码",
  "密碼",
  "パスワード",
  "비밀번호",
];

/** `INSERT INTO users (name, password) VALUES ('ada', '…')`: the value in the place of a secret column. */
export function insertedAfter(bytes: Buffer, end: number, to: number): Span[] {
  const text = bytes.toString("latin1", end, Math.min(to, end + MAX_CODES));
  const match = /^ [\w."`\\]{1,80} ?\(([^()]{1,300})\)\s*values\s*/i.exec(text);
  if (!match) return [];
  const columns = (match[1] ?? "").split(",").map((name) => SECRET_COLUMN.test(name.trim()));
  if (!columns.includes(true)) return [];
  const spans: Span[] = [];
  for (const row of text.slice(match[0].length).matchAll(/\(((?:[^()'"]|'[^']*'|"[^"]*")*)\)/g)) {
    const begin = end + match[0].length + row.index + 1;
    for (const [i, value] of [...(row[1] ?? "").matchAll(/\\*'([^'\\]*)\\*'|\\*"([^"\\]*)\\*"|[^,\s]+/g)].entries()) {
      const inside = value[1] ?? value[2] ?? "";
      if (!columns[i] || inside.length < 4 || isStandIn(inside)) continue;
      const start = begin + value.index + value[0].indexOf(inside);
      spans.push({ start, end: start + inside.length });
    }
  }
  return spans;
}

const SECRET_COLUMN = /^[\\"'`]*\w*(?:password|passwd|secret|token|api_?key|passphrase)\\*["'`]*$/i;

/** The value of a line of a cookie jar, whose second column has just been read. */
export function cookieOfJar(bytes: Buffer, end: number, to: number): Span | undefined {
  const text = bytes.toString("latin1", end, Math.min(to, end + 4_200));
  const match = /^\/[^\s]*\t(?:TRUE|FALSE)\t\d{1,13}\t[\w.%-]{1,80}\t([^\s\\]{10,4000})/i.exec(text);
  const value = match?.[1] ?? "";
  if (!match || isWordy(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return undefined;
  return { start: end + match[0].length - value.length, end: end + match[0].length };
}
