/**
 * Makes hostile text harmless to look at: terminal escapes are removed, and control and bidirectional characters, which
 * could hide or reorder what a person reads, become visible characters. Nothing here produces HTML.
 */

/** Longer lines are cut where they are shown; the whole line stays in the file. */
export const MAX_LINE = 2_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes are what this removes
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Whether `visible` would change anything: most text needs no copy. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Keeps line ends and tabs, and makes all other invisible characters visible. */
export function visible(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  return text
    .replaceAll("\r\n", "\n")
    .replace(ESCAPES, "")
    .replace(CONTROLS, (char) => {
      const code = char.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : "�";
    })
    .replace(BIDI, (char) => `‹U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** One line of visible text, cut at `length` characters. */
export function line(text: string, length = MAX_LINE): string {
  const head = text.length > length * 4 ? text.slice(0, length * 4) : text;
  const flat = visible(head)
    .replace(/[\s␀-␟]+/g, (run) => (/[\n\t]/.test(run) ? " " : run))
    .trim();
  return flat.length > length ? `${flat.slice(0, length - 1)}…` : flat;
}

/** The first line of a text that may have many, for a heading. */
export function firstLine(text: string, length: number): string {
  return line(text.trim().split("\n", 1)[0] ?? "", length);
}

/** A line of a file for display: with visible characters, and cut if very long. */
export function fileLine(text: string): { text: string; cut: number } {
  if (text.length <= MAX_LINE) return { text: visible(text), cut: 0 };
  return { text: visible(text.slice(0, MAX_LINE)), cut: text.length - MAX_LINE };
}
