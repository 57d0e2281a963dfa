/** The changed lines of one file, as hunks, from two blobs. */
import { gitIn } from "../../../git/git.ts";
import { readingEnvironment } from "../../../git/private/store.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Hunk } from "../../protocol.ts";
import type { Redaction } from "./redaction.ts";

export interface Side {
  id: string;
  bytes: Buffer;
}

/** Lines of the whole diff, with line numbers on both sides. */
export interface DiffOfFile {
  hunks: Hunk[];
  total: number;
}

const MAX_LINE = 2_000;
const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const NO_NEWLINE = "\\ No newline at end of file";

/** Blobs are compared by their ids, so that no path reaches git, and no attribute of the repository runs anything. */
export async function diffBlobs(
  workspace: Workspace,
  before: Side | null,
  after: Side | null,
  context: number,
  redaction: Redaction,
): Promise<DiffOfFile> {
  const old = before ? redaction.lines(before.bytes.toString("utf8")) : [];
  const fresh = after ? redaction.lines(after.bytes.toString("utf8")) : [];
  if (!before || !after) return oneSided(before, after, old, fresh);
  const options = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--text", `--unified=${context}`];
  const { stdout } = await gitIn(workspace).try([...options, before.id, after.id], {
    env: readingEnvironment(workspace),
  });
  return parse(stdout.toString("utf8"), old, fresh);
}

/** Texts come from the redacted sides; git's output only says which lines they are. */
function parse(patch: string, old: readonly string[], fresh: readonly string[]): DiffOfFile {
  const hunks: Hunk[] = [];
  let total = 0;
  let oldLine = 0;
  let newLine = 0;
  for (const line of patch.split("\n")) {
    const header = HEADER.exec(line);
    const hunk = hunks.at(-1);
    if (header) {
      const [, oldStart, oldLines = "1", newStart, newLines = "1"] = header;
      hunks.push({
        oldStart: Number(oldStart),
        oldLines: Number(oldLines),
        newStart: Number(newStart),
        newLines: Number(newLines),
        section: "",
        lines: [],
      });
      oldLine = Number(oldStart) - 1;
      newLine = Number(newStart) - 1;
      continue;
    }
    if (!hunk || line === "") continue;
    const mark = line[0] ?? "";
    if (mark === "\\") hunk.lines.push(NO_NEWLINE);
    else if (mark === "-") hunk.lines.push(`-${shown(old[oldLine++])}`);
    else if (mark === "+") hunk.lines.push(`+${shown(fresh[newLine++])}`);
    else {
      hunk.lines.push(` ${shown(fresh[newLine++])}`);
      oldLine++;
    }
    if (mark !== "\\") total++;
  }
  return { hunks, total };
}

function oneSided(before: Side | null, after: Side | null, old: string[], fresh: string[]): DiffOfFile {
  const side = after ?? before;
  const lines = after ? fresh : old;
  if (!side || side.bytes.length === 0) return { hunks: [], total: 0 };
  const isWhole = lines.at(-1) === "";
  if (isWhole) lines.pop();
  const mark = after ? "+" : "-";
  const [oldLines, newLines] = after ? [0, lines.length] : [lines.length, 0];
  const marked = lines.map((line) => mark + shown(line));
  const hunk: Hunk = {
    oldStart: oldLines === 0 ? 0 : 1,
    oldLines,
    newStart: newLines === 0 ? 0 : 1,
    newLines,
    section: "",
    lines: isWhole ? marked : [...marked, NO_NEWLINE],
  };
  return { hunks: [hunk], total: lines.length };
}

function shown(line: string | undefined): string {
  const text = line ?? "";
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text;
}

/** At most `limit` lines from line `offset` on; a hunk that is cut keeps its line numbers right. */
export function sliceHunks(hunks: readonly Hunk[], offset: number, limit: number): Hunk[] {
  const found: Hunk[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const start = Math.max(0, offset - at);
    const end = Math.min(hunk.lines.length, offset + limit - at);
    if (start < end) found.push(cut(hunk, start, end));
    at += hunk.lines.length;
    if (at >= offset + limit) break;
  }
  return found;
}

function cut(hunk: Hunk, start: number, end: number): Hunk {
  if (start === 0 && end === hunk.lines.length) return hunk;
  const count = (lines: readonly string[], mark: string) =>
    lines.filter((line) => " ".concat(mark).includes(line[0] ?? "")).length;
  const skipped = hunk.lines.slice(0, start);
  const lines = hunk.lines.slice(start, end);
  return {
    oldStart: hunk.oldStart + count(skipped, "-"),
    oldLines: count(lines, "-"),
    newStart: hunk.newStart + count(skipped, "+"),
    newLines: count(lines, "+"),
    section: hunk.section,
    lines,
  };
}
