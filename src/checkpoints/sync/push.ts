/**
 * Pushes checkpoints, never by force. First fetches and merges what the remote has, and retries if the remote moves in
 * the meantime. Runs no hooks, so that our push can never start another one.
 */

import { join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { shorten } from "../../base/text.ts";
import { quotedPath } from "../../git/private/store.ts";
import { readRef } from "../../git/refs.ts";
import { farGit } from "../../git/remote.ts";
import type { Workspace } from "../../git/workspace.ts";
import { isHidden } from "../branch/location.ts";
import { CHECKPOINT_BRANCH } from "../format/layout.ts";
import { CheckpointError } from "../problems.ts";
import { treeOf } from "../write/commit.ts";
import { openObjects } from "../write/write.ts";
import { fetchCheckpoints, note } from "./fetch.ts";
import { type Patience, unreachable } from "./incoming.ts";
import { differing } from "./merge-trees.ts";
import { requireClean } from "./outgoing.ts";
import { failureOf, type Remote, withoutPassword } from "./remote.ts";

export interface Pushed {
  /** Checkpoints that the remote lacked, or had with less content. */
  pushed: string[];
  /** Checkpoints that were fetched from the remote along the way. */
  fetched: string[];
}

const ATTEMPTS = 5;
/** A server's messages when another push came first. */
const OVERTAKEN =
  /fetch first|non-fast-forward|stale info|failed to update ref|cannot lock ref|reference already exists/;

export interface PushOptions extends Patience {
  /** Push even if some content looks secret. */
  anyway?: boolean;
}

export async function pushCheckpoints(workspace: Workspace, remote: Remote, options: PushOptions): Promise<Pushed> {
  const fetched = new Set<string>();
  for (let attempt = 1; ; attempt++) {
    const { theirs, changed } = await fetchCheckpoints(workspace, remote, { ...options, branchOnly: true });
    for (const id of changed) fetched.add(id);
    const tip = await readRef(workspace, CHECKPOINT_BRANCH);
    if (tip === null || tip === theirs) return { pushed: [], fetched: [...fetched] };
    const pushed = await newThere(workspace, theirs, tip);
    if (!options.anyway) await requireClean(workspace, tip, theirs);
    const said = await push(workspace, remote, tip, options);
    if (said === null) {
      faultPoint("sync:pushed");
      await note(workspace, remote, tip);
      return { pushed, fetched: [...fetched] };
    }
    if (!OVERTAKEN.test(said) || attempt >= ATTEMPTS)
      throw new CheckpointError("failed", { kind: "push-rejected", remote: remote.name, reason: said });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 200 * attempt));
  }
}

/** Returns null on success, otherwise the remote's message. */
async function push(workspace: Workspace, remote: Remote, tip: string, patience: Patience): Promise<string | null> {
  const args = ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"];
  const { seconds, signal } = patience;
  // Given a remote's name, git would update the remote-tracking ref in the user's repository, which lacks the commit.
  const to = isHidden(workspace) ? remote.pushAddress : remote.pushTo;
  const result = await farGit([...args, "--", to, `${tip}:${CHECKPOINT_BRANCH}`], {
    cwd: workspace.root,
    env: isHidden(workspace) ? hiddenObjects(workspace) : {},
    timeoutMs: seconds * 1000,
    signal,
  });
  if (result.code === 0 && result.ended === null) return null;
  const rejected = /^!\t\S+\t(.*)$/m.exec(result.stdout.toString("utf8"))?.[1];
  const why = failureOf(result, seconds) ?? { kind: "ended", code: result.code };
  if (rejected === undefined || result.ended !== null) throw unreachable(remote, why, patience);
  return shorten(
    withoutPassword(`${rejected}${why.kind === "said" && /remote:/.test(why.text) ? ` (${why.text})` : ""}`),
    400,
  );
}

/** The environment for a git process in the user's repository that only reads. */
function hiddenObjects(home: Workspace): Record<string, string> {
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(join(home.commonDir, "objects")) };
}

async function newThere(workspace: Workspace, theirs: string | null, tip: string): Promise<string[]> {
  using objects = openObjects(workspace);
  const there = theirs === null ? null : await treeOf(objects.reader, theirs);
  return await differing(objects, there, await treeOf(objects.reader, tip));
}
