/** Aligns rows in columns; the last column gets the remaining width. */
import { fit, pad, widthOf } from "./text.ts";

const GAP = 2;
/** The last column shows at least this much, even if the line gets too long. */
const MIN_LAST = 6;

export interface Cell {
  text: string;
  /** Applied after the text is cut and padded. */
  paint?: (text: string) => string;
}

export function table(rows: readonly (readonly (Cell | string)[])[], columns: number, indent = 0): string[] {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === "string" ? { text: cell } : cell)));
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, widthOf(cell.text));
    });
  }
  return cells.map((row) => {
    let left = columns - indent;
    const parts = row.map((cell, i) => {
      const isLast = i === row.length - 1;
      const width = isLast ? Math.max(left, MIN_LAST) : (widths[i] ?? 0);
      left -= width + GAP;
      const text = isLast ? fit(cell.text, width) : pad(cell.text, width);
      return cell.paint ? cell.paint(text) : text;
    });
    return (" ".repeat(indent) + parts.join(" ".repeat(GAP))).trimEnd();
  });
}
