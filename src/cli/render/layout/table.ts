/** Aligns rows in columns; the last column gets the remaining width. On a narrow screen, a row takes several lines. */
import { fit, flow, pad, widthOf } from "./text.ts";

const GAP = 2;
/** Where the last column would show less than this, cells flow over several lines. */
const MIN_LAST = 10;

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
  const wide = Math.max(0, ...cells.map((row) => row.length));
  const last = Math.max(0, ...cells.map((row) => (row.length === wide ? widthOf(row.at(-1)?.text ?? "") : 0)));
  const others = widths.slice(0, wide - 1).reduce((sum, width) => sum + width + GAP, indent);
  if (others + Math.min(last, MIN_LAST) > columns) return cells.flatMap((row) => flowing(row, columns, indent));
  return cells.map((row) => {
    let left = columns - indent;
    const parts = row.map((cell, i) => {
      const isLast = i === row.length - 1;
      const width = isLast ? left : (widths[i] ?? 0);
      left -= width + GAP;
      const text = isLast ? fit(cell.text, width) : pad(cell.text, width);
      return cell.paint ? cell.paint(text) : text;
    });
    return (" ".repeat(indent) + parts.join(" ".repeat(GAP))).trimEnd();
  });
}

/** One row on as many lines as its cells need; the lines after the first are indented. */
function flowing(row: readonly Cell[], columns: number, indent: number): string[] {
  const room = Math.max(1, columns - indent - GAP);
  const shown = row
    .filter(({ text }) => text !== "")
    .map(({ text, paint }) => (paint ? paint(fit(text, room)) : fit(text, room)));
  return flow(shown, columns - indent, GAP).map((line, i) => " ".repeat(indent + (i > 0 ? GAP : 0)) + line);
}
