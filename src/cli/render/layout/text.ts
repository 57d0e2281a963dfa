/** Measures, cuts, pads and wraps text by its width on a terminal. */
import stringWidth from "fast-string-width";

/** In a narrower window, lines are wrapped at this width and the terminal breaks them again. */
const MIN_WRAP = 20;

/** Our own symbols and ASCII: one column each. */
const NARROW = /^[\x20-\x7e…│●○✓✗├└─]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colors are what this looks for
const COLORS = /\u001b\[[0-9;]*m/g;

/** The general answer knows all of Unicode, which takes milliseconds to load and is almost never needed. */
export function widthOf(text: string): number {
  const shown = text.includes("\u001b") ? text.replace(COLORS, "") : text;
  return NARROW.test(shown) ? shown.length : stringWidth(text);
}

/** Cuts the text with an ellipsis to at most `width` columns. The text must not contain escape sequences. */
export function fit(text: string, width: number): string {
  if (width <= 0) return "";
  // Nearly all text is ASCII, and a segmenter takes milliseconds to load.
  if (isAscii(text)) return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  if (widthOf(text) <= width) return text;
  let result = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = widthOf(segment);
    if (used + next > width - 1) break;
    result += segment;
    used += next;
  }
  return `${result}…`;
}

/** Like `fit`, for a line that may contain colors and tabs. */
export function fitPainted(line: string, columns: number): string {
  const wide = line.replaceAll("\t", "    ");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colors are what this looks for
  const parts = wide.split(/(\u001b\[[0-9;]*m)/);
  let left = columns;
  return parts
    .map((part, i) => {
      if (i % 2 === 1) return part;
      const shown = fit(part, left);
      left -= widthOf(shown);
      return shown;
    })
    .join("");
}

/** Like `fit`, for a sentence with a quoted title: a title that is cut keeps its closing quote. */
export function fitQuoted(text: string, width: number): string {
  const cut = fit(text, width);
  return cut !== text && cut.split('"').length % 2 === 0 ? `${fit(text, width - 1)}"` : cut;
}

/** Pads the text with spaces to `width` columns. The text may contain escape sequences. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Places parts side by side, two spaces apart, on as many lines as needed; all but the first are `indent` shorter. */
export function flow(parts: readonly string[], columns: number, indent: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const room = columns - (lines.length > 1 ? indent : 0);
    if (last !== undefined && widthOf(last) + 2 + widthOf(part) <= room) lines[lines.length - 1] = `${last}  ${part}`;
    else lines.push(part);
  }
  return lines;
}

/** Breaks the text at spaces into lines of at most `width` columns; a longer word gets its own line. */
export function wrap(text: string, width: number): string[] {
  if (width === Number.POSITIVE_INFINITY) return text.split("\n");
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of unbreakable(paragraph, width)) {
      if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

/** Wraps the text and indents every line; the first one starts with `mark` inside the indentation. */
export function wrapAfter(mark: string, text: string, width: number): string[] {
  const indent = " ".repeat(widthOf(mark));
  return wrap(text, Math.max(MIN_WRAP, width - indent.length)).map((line, i) => (i === 0 ? mark : indent) + line);
}

/**
 * Wraps the sentences of a message. A line that begins with a space, such as a command to copy or a row of a list, is
 * laid out already and stays whole.
 */
export function wrapMessage(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  return text
    .split("\n")
    .flatMap((line) => (line.startsWith(" ") ? [line] : wrap(line, Math.max(MIN_WRAP, width))))
    .join("\n");
}

/** Splits at spaces, but keeps a quoted command (`backtrail redo`) together if it fits on a line. */
function unbreakable(text: string, width: number): string[] {
  const parts: string[] = [];
  let isOpen = false;
  for (const word of text.split(" ")) {
    const joined = `${parts.at(-1)} ${word}`;
    if (isOpen && widthOf(joined) <= width) parts[parts.length - 1] = joined;
    else {
      parts.push(word);
      isOpen = false;
    }
    if (word.split("`").length % 2 === 0) isOpen = !isOpen;
  }
  return parts;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
