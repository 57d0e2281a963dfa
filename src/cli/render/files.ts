/** Renders lists of changed files. */
import { plural, shownPath } from "../../base/text.ts";
import type { FileChanges } from "../../model/changes.ts";
import type { Paint, Style } from "../terminal/io.ts";

export type Change = "added" | "modified" | "deleted" | "mode";

const MARKS: Readonly<Record<Change, { mark: string; style: Style }>> = {
  added: { mark: "+", style: "green" },
  modified: { mark: "~", style: "yellow" },
  deleted: { mark: "-", style: "red" },
  mode: { mark: "x", style: "cyan" },
};

export function countOf(files: FileChanges): number {
  return files.added.length + files.modified.length + files.deleted.length;
}

/** "+2 ~1 -3": added, modified, deleted; empty if nothing changed. */
export function summaryOf(files: FileChanges, paint: Paint): string {
  const parts: string[] = [];
  for (const change of ["added", "modified", "deleted"] as const) {
    const count = files[change].length;
    if (count > 0) parts.push(paint(MARKS[change].style, `${MARKS[change].mark}${count}`));
  }
  return parts.join(" ");
}

export function entriesOf(files: FileChanges): { path: string; change: Change }[] {
  const entries = (["added", "modified", "deleted"] as const).flatMap((change) =>
    files[change].map((path) => ({ path, change })),
  );
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** One line per file, at most `limit` lines. */
export function fileLines(
  entries: readonly { path: string; change: Change; note?: string }[],
  paint: Paint,
  options: { indent?: string; limit?: number /** How to see the rest. */; more?: string } = {},
): string[] {
  const { indent = "  ", limit = Number.POSITIVE_INFINITY, more } = options;
  const shown = entries.length > limit ? entries.slice(0, limit - 1) : entries;
  const lines = shown.map(({ path, change, note }) => {
    const { mark, style } = MARKS[change];
    return `${indent}${paint(style, mark)} ${shownPath(path)}${note === undefined ? "" : `  ${paint("yellow", note)}`}`;
  });
  const left = entries.length - shown.length;
  if (left > 0)
    lines.push(paint("dim", `${indent}… and ${plural(left, "more file")}${more === undefined ? "" : ` (${more})`}`));
  return lines;
}
