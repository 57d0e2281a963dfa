/** Finds what a time span left in git and no restore undoes: branches, tags, stashes, commits, unfinished operations. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { oneLine, shorten, shownPath } from "../../base/text.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/format/layout.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { GitChanges, GitOperation, SideEffect } from "./model.ts";

/** Milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

const SUBJECT_LENGTH = 60;
/** A file's timestamp may be slightly earlier than its creation. */
const CLOCK_GRAIN_MS = 1_000;
const MAX_REFS = 20_000;

export async function gitChangesBetween(workspace: Workspace, span: Span): Promise<GitChanges[]> {
  if (workspace.kind === "private" || workspace.refStorage !== "files") return [];
  return [
    ...newBranches(workspace, span).map((name) => ({ kind: "branch" as const, name: shownPath(name) })),
    ...(await newTags(workspace, span)).map((name) => ({ kind: "tag" as const, name: shownPath(name) })),
    ...newStashes(workspace, span).map((name) => ({ kind: "stash" as const, name })),
  ];
}

const OPERATIONS: readonly [file: string, operation: GitOperation][] = [
  ["MERGE_HEAD", "merge"],
  ["rebase-merge/head-name", "rebase"],
  ["rebase-apply/head-name", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
];

/** git operations begun and not finished: after a restore, the next commit would still conclude them. */
export function operationsBegunIn({ kind, gitDir }: Workspace, { from, to }: Span): SideEffect[] {
  if (kind === "private") return [];
  return OPERATIONS.flatMap(([file, operation]) => {
    const time = modifiedTime(join(gitDir, file));
    return time === undefined || time < from || time > to ? [] : [{ kind: "in-progress", operation }];
  });
}

/** Short ids and subjects, newest first. */
export async function commitsBetween(
  workspace: Workspace,
  from: string | null,
  to: string,
  most: number,
): Promise<string[]> {
  const range = from === null ? [to] : [`${from}..${to}`];
  const log = ["log", `--max-count=${most}`, "--format=%h%x00%s", "--end-of-options", ...range];
  const { code, stdout } = await gitIn(workspace).try(log);
  if (code !== 0) return [];
  const lines = stdout
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [id = "", subject = ""] = line.split("\0");
    return `${id} "${shorten(oneLine(subject), SUBJECT_LENGTH)}"`;
  });
}

/** A branch's reflog starts when the branch is created. */
function newBranches({ commonDir }: Workspace, span: Span): string[] {
  const root = join(commonDir, "logs", "refs", "heads");
  return filesBelow(root).filter((name) => {
    if (`refs/heads/${name}` === CHECKPOINT_BRANCH) return false;
    const birth = birthTime(join(root, name));
    // Most branches are older, so their logs need not be read.
    if (birth !== undefined && birth < span.from - CLOCK_GRAIN_MS) return false;
    const first = readLines(join(root, name))[0];
    return first !== undefined && isWithin(timeOf(first), birth, span);
  });
}

/** Each line of the stash reflog is one stash. */
function newStashes({ commonDir }: Workspace, span: Span): string[] {
  const path = join(commonDir, "logs", "refs", "stash");
  const lines = readLines(path);
  return lines.flatMap((line, i) => {
    const exact = i === lines.length - 1 ? modifiedTime(path) : undefined;
    const words = shorten(oneLine(line.slice(line.indexOf("\t") + 1)), SUBJECT_LENGTH);
    return isWithin(timeOf(line), exact, span) ? [`"${words}"`] : [];
  });
}

/** An annotated tag records its time; a lightweight tag has only its file's time, until git packs it. */
async function newTags(workspace: Workspace, span: Span): Promise<string[]> {
  if (!mayHaveTagsSince(workspace, span)) return [];
  const format = "--format=%(refname)%00%(objecttype)%00%(creatordate:unix)";
  const { code, stdout } = await gitIn(workspace).try(["for-each-ref", `--count=${MAX_REFS}`, format, "refs/tags"]);
  if (code !== 0) return [];
  return stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const [ref = "", type, seconds] = line.split("\0");
      if (!ref.startsWith("refs/tags/") || ref.includes("..")) return [];
      const file = modifiedTime(join(workspace.commonDir, ref));
      const time = type === "tag" ? Number(seconds) : undefined;
      return isWithin(time, file, span) ? [ref.slice("refs/tags/".length)] : [];
    });
}

/** Avoids running git: a new tag shows up as a loose file or in a newer packed-refs. */
function mayHaveTagsSince({ commonDir }: Workspace, { from }: Span): boolean {
  const isSince = (path: string) => (modifiedTime(join(commonDir, path)) ?? 0) >= from - CLOCK_GRAIN_MS;
  return (
    isSince("packed-refs") || filesBelow(join(commonDir, "refs", "tags")).some((tag) => isSince(`refs/tags/${tag}`))
  );
}

/** git records seconds; the file's own time breaks ties. */
function isWithin(seconds: number | undefined, exact: number | undefined, { from, to }: Span): boolean {
  if (seconds === undefined) return exact !== undefined && exact >= from && exact <= to;
  const [first, last] = [Math.floor(from / 1000), Math.floor(to / 1000)];
  if (seconds < first || seconds > last) return false;
  return seconds > first || exact === undefined || exact >= from;
}

function timeOf(line: string): number | undefined {
  const seconds = / (\d+) [+-]\d{4}(?:\t|$)/.exec(line)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

function birthTime(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.birthtimeMs || undefined;
}

function modifiedTime(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function filesBelow(directory: string, prefix = ""): string[] {
  try {
    return readdirSync(join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
      const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(directory, name) : entry.isFile() ? [name] : [];
    });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EISDIR") return [];
    throw error;
  }
}
