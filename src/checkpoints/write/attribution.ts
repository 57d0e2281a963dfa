/** Attributes the lines of a commit to turns, and formats the attribution for a checkpoint. */

import { keptLines } from "../../attribution/line-diff.ts";
import { goneFiles, LineAuthors } from "../../attribution/lines.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { GITLINK_MODE, SYMLINK_MODE } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { TurnRef } from "../../model/turn.ts";
import { type FileAttribution, type InitialAttribution, type LineRange, lineMark } from "../format/layout.ts";

export interface CommitAttribution {
  commit: string;
  files: AttributedFile[];
}

interface AttributedFile {
  path: string;
  blob: string;
  /** The lines that the commit added, in order. */
  added: AddedLine[];
  /** The number of earlier lines that the user removed. */
  removedByUser: number;
}

interface AddedLine {
  /** Starts at 1. */
  line: number;
  text: string;
  author: TurnRef | null;
}

export interface CommitFacts {
  tree: string;
  parent: string | null;
  /** ISO time: the end of the second in which the commit was made. */
  time: string;
  message: string;
}

const MAX_FILES = 2_000;

/**
 * Uses the steps of this work tree; unrecorded lines have no author. Pass `madeHere: false` for a commit that may have
 * been fetched: the turn that was running at its time need not have written it.
 */
export async function attributeCommit(
  workspace: Workspace,
  commit: string,
  { madeHere = true }: { madeHere?: boolean } = {},
): Promise<CommitAttribution> {
  const authors = new LineAuthors(workspace);
  try {
    const { tree, parent, time } = await commitFacts(authors, commit);
    const before = parent === null ? null : (await commitFacts(authors, parent)).tree;
    const files: AttributedFile[] = [];
    const changes = await compareTrees(authors.trees, before, tree);
    const gone = goneFiles(changes);
    for (const { path, status, before: old, after } of changes.slice(0, MAX_FILES)) {
      if (!after || status === "mode" || after.mode === SYMLINK_MODE || after.mode === GITLINK_MODE) continue;
      const lines = await authors.linesOf(after.id);
      if (!lines) continue;
      const origin = old ? null : await authors.renamedFrom(gone, { path, blob: after.id });
      const base = old?.id ?? origin?.blob ?? null;
      const previous = (base === null ? undefined : await authors.linesOf(base)) ?? [];
      const followed = await authors.follow(path, { lines, blob: after.id, until: time, parent, base, madeHere });
      const kept = keptLines(previous, lines);
      const added = lines.flatMap((text, i) =>
        (kept[i] ?? -1) >= 0 ? [] : [{ line: i + 1, text, author: followed.authors[i] ?? null }],
      );
      const removed = previous.length - kept.filter((from) => from >= 0).length;
      files.push({ path, blob: after.id, added, removedByUser: Math.min(removed, followed.removedByUser) });
    }
    return { commit, files };
  } finally {
    authors.close();
  }
}

/** Returns the session's part of the attribution, for its backtrail.json. */
export function attributionOf(
  attribution: CommitAttribution,
  session: Pick<TurnRef, "agent" | "session">,
): FileAttribution[] {
  return attribution.files.flatMap(({ path, blob, added }) => {
    const own = added.filter(({ author }) => author?.session === session.session && author.agent === session.agent);
    return own.length === 0 ? [] : [{ path, blob, ranges: rangesOf(own) }];
  });
}

/** The line counts of the checkpoint format, for the whole commit. */
export function initialAttribution(attribution: CommitAttribution, calculatedAt: string): InitialAttribution {
  let [agentLines, added, modified, removed] = [0, 0, 0, 0];
  for (const file of attribution.files) {
    const byUser = file.added.filter(({ author }) => author === null).length;
    // A removed line paired with an added one counts as modified.
    const changed = Math.min(byUser, file.removedByUser);
    agentLines += file.added.length - byUser;
    added += byUser - changed;
    modified += changed;
    removed += file.removedByUser - changed;
  }
  const total = agentLines + added + modified;
  return {
    calculated_at: calculatedAt,
    agent_lines: agentLines,
    human_added: added,
    human_modified: modified,
    human_removed: removed,
    total_committed: total,
    agent_percentage: total === 0 ? 0 : Math.round((agentLines / total) * 1000) / 10,
  };
}

export async function commitFacts(
  objects: { require(name: string, type: string): Promise<Buffer> },
  commit: string,
): Promise<CommitFacts> {
  const text = (await objects.require(commit, "commit")).toString("utf8");
  const gap = text.indexOf("\n\n");
  const header = gap === -1 ? text : text.slice(0, gap);
  const seconds = Number(/^committer .* (\d+) [+-]\d+$/m.exec(header)?.[1] ?? 0);
  return {
    tree: /^tree ([0-9a-f]+)$/m.exec(header)?.[1] ?? "",
    parent: /^parent ([0-9a-f]+)$/m.exec(header)?.[1] ?? null,
    time: new Date(Math.min(seconds, 8_640_000_000_000 - 1) * 1000 + 999).toISOString(),
    message: gap === -1 ? "" : text.slice(gap + 2),
  };
}

function rangesOf(lines: readonly AddedLine[]): LineRange[] {
  const ranges: LineRange[] = [];
  let next = 0;
  for (const { line, text, author } of lines) {
    const last = ranges.at(-1);
    const turn = author?.turn ?? 0;
    if (last && line === next && last.turn === turn) last.marks += lineMark(text);
    else ranges.push({ start: line, turn, marks: lineMark(text) });
    next = line + 1;
  }
  return ranges;
}
