/** Finds commits whose checkpoint is neither on its branch nor in the queue, and queues them again. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { checkpointPlaces } from "../../../checkpoints/branch/location.ts";
import { CHECKPOINT_BRANCH, checkpointPath } from "../../../checkpoints/format/layout.ts";
import { linkedIn } from "../../../checkpoints/links/trailers.ts";
import { readCondensed } from "../../../checkpoints/write/pending.ts";
import { enqueue, waitingSince } from "../../../checkpoints/write/queue.ts";
import { momentOf, queuedSession } from "../../../commits/hooks.ts";
import { loadConfig } from "../../../config/load.ts";
import { gitIn } from "../../../git/git.ts";
import { hasRef } from "../../../git/refs.ts";
import { tryGit } from "../../../git/run.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { loadSession } from "../../../recording/session/store.ts";

export interface LostCheckpoint {
  checkpoint: string;
  commit: string;
  key: string;
}

/** Considers only commits that still exist: an abandoned commit needs no conversation. */
export async function lostCheckpoints(workspace: Workspace): Promise<LostCheckpoint[]> {
  // Whoever has deleted the branch wanted it gone.
  if (workspace.kind === "private") return [];
  const waiting = new Set(waitingSince(workspace).checkpoints);
  const taken = keys(workspace).flatMap((key) => {
    const checkpoint = readCondensed(workspace, key).last?.checkpoint;
    return checkpoint !== undefined && !waiting.has(checkpoint) ? [{ key, checkpoint }] : [];
  });
  if (taken.length === 0) return [];
  const lost: LostCheckpoint[] = [];
  const written = await writtenOf(
    workspace,
    taken.map(({ checkpoint }) => checkpoint),
  );
  for (const { key, checkpoint } of taken) {
    if (written.has(checkpoint)) continue;
    const commit = await commitNaming(workspace, checkpoint);
    if (commit !== undefined) lost.push({ key, checkpoint, commit });
  }
  return lost;
}

/** The checkpoints that are on the branch, in any of its locations. */
async function writtenOf(workspace: Workspace, checkpoints: readonly string[]): Promise<Set<string>> {
  const written = new Set<string>();
  const input = checkpoints.map((id) => `${CHECKPOINT_BRANCH}:${checkpointPath(id)}\n`).join("");
  for (const place of checkpointPlaces(workspace)) {
    if (!hasRef(place, CHECKPOINT_BRANCH)) continue;
    const asked = await gitIn(place).try(["cat-file", "--batch-check"], { input });
    const answers = asked.stdout.toString("utf8").split("\n");
    for (const [i, id] of checkpoints.entries()) if (!answers[i]?.endsWith(" missing")) written.add(id);
  }
  return written;
}

/** Queues the checkpoints again, each with the session's conversation up to now. */
export function queueAgain(workspace: Workspace, lost: readonly LostCheckpoint[]): number {
  let count = 0;
  const { strategy } = loadConfig(workspace);
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
