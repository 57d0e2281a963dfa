/** Renders the files of a plan: what happens to each file, and which files contain the user's own changes. */
import { plural } from "../../../base/text.ts";
import type { RestorePlan, YourFile } from "../../../restore/types.ts";
import type { Paint } from "../../terminal/io.ts";
import { type Change, fileLines } from "../files.ts";
import { wrap, wrapAfter } from "../layout/text.ts";
import { clockTime } from "../layout/time.ts";

export interface FilesView {
  paint: Paint;
  columns: number;
  now: Date;
  /** The maximum number of files to list. */
  limit: number;
}

export function planFileLines(plan: RestorePlan, { paint, columns, now, limit }: FilesView): string[] {
  const created = new Set(plan.create);
  const yours = new Map(plan.yours.map((file) => [file.path, file]));
  const entry = (path: string, change: Change) => {
    const own = yours.get(path);
    return { path, change, ...(own ? { note: ownNote(own, now) } : {}) };
  };
  const entries = [
    ...plan.write.map((path) => entry(path, created.has(path) ? "added" : "modified")),
    ...plan.delete.map((path) => entry(path, "deleted")),
    ...plan.chmod.map((path) => entry(path, "mode")),
  ];
  if (entries.length === 0) return [paint("dim", "  No file changes.")];
  // In a list that is cut, the user's own files come first, and then those whose change is rare: one file that goes is
  // not lost among many that come.
  const isYours = (path: string) => Number(yours.has(path));
  const counted = Map.groupBy(entries, ({ change }) => change);
  const many = (change: Change) => (entries.length > limit ? (counted.get(change)?.length ?? 0) : 0);
  entries.sort(
    (a, b) => isYours(b.path) - isYours(a.path) || many(a.change) - many(b.change) || (a.path < b.path ? -1 : 1),
  );
  return [
    ...wrap(counts(plan), columns).map((line) => paint("bold", line)),
    ...fileLines(entries, paint, { limit, more: "--all lists them" }),
    ...ownLines(plan, paint, columns),
  ];
}

function ownNote({ since, kept }: YourFile, now: Date): string {
  const when = clockTime(since, now);
  return kept ? `your changes since ${when} stay` : `yours, since ${when}`;
}

/** Only a rewind to a step can keep the user's changes. */
function ownLines({ kind, target, options, yours }: RestorePlan, paint: Paint, columns: number): string[] {
  const mark = `  ${paint("yellow", "yours")} `;
  if (options.keepMine) return wrapAfter(mark, "your own changes stay (--keep-mine)", columns);
  const going = yours.filter(({ kept }) => !kept).length;
  if (going === 0) return [];
  const hint = kind === "rewind" && target.kind === "step" ? " (--keep-mine keeps them)" : "";
  return wrapAfter(mark, `your own changes in ${plural(going, "file")} are rewound too${hint}`, columns);
}

function counts({ write, create, delete: removed, chmod }: RestorePlan): string {
  const planned = { create: create.length, write: write.length - create.length, delete: removed.length };
  const parts = Object.entries(planned).map(([action, count]) =>
    count > 0 ? `${plural(count, "file")} to ${action}` : "",
  );
  if (chmod.length > 0) parts.push(plural(chmod.length, "file mode change"));
  return parts.filter((part) => part !== "").join(", ");
}
