/** Text in columns of a terminal: what a string takes there, cut, padded and wrapped to it. */
import stringWidth from "fast-string-width";

export function widthOf(text: string): number {
  return stringWidth(text);
}

/** At most `width` columns, cut with an ellipsis. For text without escape sequences. */
export function fit(text: string, width: number): string {
  if (width <= 0) return "";
  // Plain text is nearly all there is, and a segmenter takes milliseconds to load.
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

/** Filled with spaces to `width` columns; may hold escape sequences. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Lines of at most `width` columns, broken at spaces; a longer word stands alone. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
