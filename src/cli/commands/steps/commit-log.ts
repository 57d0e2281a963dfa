/** `log --commits`: lists commits with the sessions and prompts behind them. */
import { now } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { oneLine, plural, printable, shortSession } from "../../../base/text.ts";
import { type LinkedCommit, recentCommits } from "../../../checkpoints/links/history.ts";
import { CheckpointReader, type StoredCheckpoint } from "../../../checkpoints/read/read.ts";
import { waitingSince } from "../../../checkpoints/write/queue.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { fit } from "../../render/layout/text.ts";
import { commitLine } from "../../render/line-origin.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";

export interface CommitLogOptions {
  limit: number;
  all: boolean;
  json: boolean;
}

type Found = StoredCheckpoint | { id: string; missing: string };

export async function commitLog(workspace: Workspace, options: CommitLogOptions, io: Io): Promise<void> {
  const reader = new CheckpointReader(workspace);
  try {
    const waiting = new Set(waitingSince(workspace).checkpoints);
    const commits = await recentCommits(workspace, options.limit, options.all);
    const entries: { commit: LinkedCommit; checkpoints: Found[] }[] = [];
    for (const commit of commits) {
      const checkpoints: Found[] = [];
      for (const id of commit.checkpoints) checkpoints.push(await find(reader, id, waiting));
      entries.push({ commit, checkpoints });
    }
    if (options.json) {
      io.json({
        commits: entries.map(({ commit, checkpoints }) => ({ ...commit, checkpoints: checkpoints.map(asJson) })),
      });
      return;
    }
    if (entries.length === 0) io.say("There are no commits here yet.");
    else await page(io, entries.flatMap(({ commit, checkpoints }) => lines(commit, checkpoints, io)).join("\n"));
  } finally {
    reader.close();
  }
}

async function find(reader: CheckpointReader, id: string, waiting: ReadonlySet<string>): Promise<Found> {
  try {
    return (await reader.find(id)) ?? { id, missing: waiting.has(id) ? "being written" : "not here" };
  } catch (error) {
    return { id, missing: messageOf(error) };
  }
}

function lines(commit: LinkedCommit, checkpoints: readonly Found[], io: Io): string[] {
  const { paint, columns } = io.out;
  const mark = checkpoints.length > 0 ? "●" : "○";
  const rows = [`${mark} ${commitLine(commit, now(), paint)}`];
  for (const checkpoint of checkpoints) {
    if ("missing" in checkpoint) {
      rows.push(`  ${paint("magenta", checkpoint.id)}  ${paint("yellow", printable(checkpoint.missing))}`);
      continue;
    }
    for (const { metadata, prompts } of checkpoint.sessions) {
      const name = `${oneLine(metadata.agent)} ${shortSession(metadata.session_id)}`;
      const files = plural(metadata.files_touched.length, "file");
      rows.push(`  ${paint("magenta", checkpoint.id)}  ${paint("cyan", name)}  ${paint("dim", files)}`);
      for (const prompt of prompts) rows.push(fit(`    ${oneLine(prompt)}`, columns));
    }
  }
  return rows;
}

function asJson(checkpoint: Found) {
  if ("missing" in checkpoint) return checkpoint;
  return {
    id: checkpoint.id,
    files: checkpoint.summary.files_touched,
    sessions: checkpoint.sessions.map(({ metadata, prompts }) => ({
      session: metadata.session_id,
      agent: metadata.agent,
      prompts,
    })),
  };
}
