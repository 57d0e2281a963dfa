/** Runs and parses `git blame`: for each line of a file, its commit and its location in that commit. */
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";

export interface BlamedCommit {
  id: string;
  author: string;
  /** ISO */
  time: string;
  subject: string;
}

export interface CommittedLine {
  /** Null if the line is uncommitted. */
  commit: BlamedCommit | null;
  /** The file's path in that commit. */
  path: string;
  /** The line number in that commit, from 1. */
  origin: number;
  /** The current line number. */
  line: number;
}

/** Returns undefined if no commit contains the file. */
export async function gitBlame(
  workspace: Workspace,
  path: string,
  range: { from: number; to: number } | null,
): Promise<CommittedLine[] | undefined> {
  const limit = range ? ["-L", `${range.from},${range.to}`] : [];
  const result = await gitIn(workspace).try(["blame", "--porcelain", ...limit, "--", path]);
  return result.code === 0 ? parsePorcelain(result.stdout.toString("utf8")) : undefined;
}

function parsePorcelain(text: string): CommittedLine[] {
  const commits = new Map<string, { commit: BlamedCommit; path: string }>();
  const lines: CommittedLine[] = [];
  let current: { commit: BlamedCommit; path: string } | undefined;
  let [origin, line] = [0, 0];
  for (const row of text.split("\n")) {
    if (row.startsWith("\t")) {
      if (!current) continue;
      const uncommitted = /^0+$/.test(current.commit.id);
      lines.push({ commit: uncommitted ? null : current.commit, path: current.path, origin, line });
      continue;
    }
    const header = /^([0-9a-f]{40,64}) (\d+) (\d+)/.exec(row);
    if (header) {
      const id = header[1] ?? "";
      current = commits.get(id) ?? { commit: { id, author: "", time: "", subject: "" }, path: "" };
      commits.set(id, current);
      [origin, line] = [Number(header[2]), Number(header[3])];
    } else if (current) readHeader(row, current);
  }
  return lines;
}

function readHeader(row: string, known: { commit: BlamedCommit; path: string }): void {
  const space = row.indexOf(" ");
  const value = space === -1 ? "" : row.slice(space + 1);
  const name = space === -1 ? row : row.slice(0, space);
  if (name === "author") known.commit.author = value;
  else if (name === "author-time") known.commit.time = new Date(Number(value) * 1000).toISOString();
  else if (name === "summary") known.commit.subject = value;
  else if (name === "filename") known.path = unquoted(value);
}

/** Decodes git's quoted form of unusual names: double quotes and C escapes. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const inner = Buffer.from(name.slice(1, -1), "utf8");
  for (let i = 0; i < inner.length; i++) {
    const byte = inner[i] ?? 0;
    if (byte !== BACKSLASH) {
      bytes.push(byte);
      continue;
    }
    const digits = /^[0-7]{3}/.exec(inner.toString("latin1", i + 1, i + 4))?.[0];
    if (digits) {
      bytes.push(Number.parseInt(digits, 8));
      i += 3;
    } else {
      const letter = inner.toString("latin1", i + 1, i + 2);
      bytes.push((ESCAPES[letter] ?? letter).charCodeAt(0));
      i++;
    }
  }
  return Buffer.from(bytes).toString("utf8");
}

const BACKSLASH = 0x5c;
const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
