/** Commits made here whose checkpoint is neither on its branch nor in the queue: they can be queued again. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { CHECKPOINT_BRANCH, checkpointPath } from "../../checkpoints/layout.ts";
import { readCondensed } from "../../checkpoints/pending.ts";
import { enqueue, waitingSince } from "../../checkpoints/queue.ts";
import { linkedIn } from "../../checkpoints/trailers.ts";
import { loadConfig } from "../../config/load.ts";
import { hasRef } from "../../git/refs.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { momentOf, queuedSession } from "../commits.ts";
import { loadSession } from "../session-state.ts";

export interface LostCheckpoint {
  checkpoint: string;
  commit: string;
  key: string;
}

/** Only commits that are still there: one that was given up needs no conversation. */
export async function lostCheckpoints(workspace: Workspace): Promise<LostCheckpoint[]> {
  // Whoever has deleted the branch wanted it gone.
  if (workspace.kind === "private") return [];
  const waiting = new Set(waitingSince(workspace).checkpoints);
  const taken = keys(workspace).flatMap((key) => {
    const checkpoint = readCondensed(workspace, key).last?.checkpoint;
    return checkpoint !== undefined && !waiting.has(checkpoint) ? [{ key, checkpoint }] : [];
  });
  if (taken.length === 0) return [];
  const hasBranch = hasRef(workspace, CHECKPOINT_BRANCH);
  const input = taken.map(({ checkpoint }) => `${CHECKPOINT_BRANCH}:${checkpointPath(checkpoint)}\n`).join("");
  const asked = hasBranch ? await tryGit(["cat-file", "--batch-check"], { cwd: workspace.root, input }) : undefined;
  const answers = asked?.stdout.toString("utf8").split("\n") ?? [];
  const lost: LostCheckpoint[] = [];
  for (const [i, { key, checkpoint }] of taken.entries()) {
    if (hasBranch && !answers[i]?.endsWith(" missing")) continue;
    const commit = await commitNaming(workspace, checkpoint);
    if (commit !== undefined) lost.push({ key, checkpoint, commit });
  }
  return lost;
}

/** With all that the session has said up to where its next checkpoint begins. */
export function queueAgain(workspace: Workspace, lost: readonly LostCheckpoint[]): number {
  let count = 0;
  const { strategy } = loadConfig(workspace.root);
  for (const { key, checkpoint, commit } of lost) {
    const state = loadSession(workspace, key);
    const { last } = readCondensed(workspace, key);
    if (!state || last?.checkpoint !== checkpoint) continue;
    const sessions = [queuedSession(key, state, last.files, last.since, momentOf(state))];
    enqueue(workspace, { v: 1, checkpoint, commit, branch: null, strategy, time: now().toISOString(), sessions });
    count++;
  }
  return count;
}

async function commitNaming(workspace: Workspace, checkpoint: string): Promise<string | undefined> {
  const args = ["log", "-1", "--branches", "HEAD", "--fixed-strings", `--grep=${checkpoint}`, "--format=%H%n%B"];
  const { stdout, code } = await tryGit(args, { cwd: workspace.root });
  const [commit = "", ...message] = stdout.toString("utf8").split("\n");
  return code === 0 && linkedIn(message.join("\n")).includes(checkpoint) ? commit : undefined;
}

function keys({ storeDir }: Workspace): string[] {
  try {
    const names = readdirSync(join(storeDir, "checkpoints"));
    return names.flatMap((name) => /^([0-9a-f]{20})\.json$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}
