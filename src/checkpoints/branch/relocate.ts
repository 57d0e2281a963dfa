/**
 * Moves the checkpoint branch to its configured location. Readers use both locations, so a kill at any point loses
 * nothing and the next run continues: copy the objects, merge them into the target, then delete the old branch.
 */
import { faultPoint } from "../../base/fault-point.ts";
import { gitIn } from "../../git/git.ts";
import { copyHistory } from "../../git/objects/copy-history.ts";
import { removeReflog } from "../../git/reflog.ts";
import { compareAndSwapRef, hasRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { leaveWitness } from "../../steps/upkeep/old-objects.ts";
import { foreignCheckpoints, isEntireEnabled } from "../entire/traces.ts";
import { CHECKPOINT_BRANCH } from "../format/layout.ts";
import { mergeInto } from "../sync/merge.ts";
import { SYNC_REFS } from "../sync/state.ts";
import { checkpointHome, checkpointPlaces, isHidden, sharesCheckpoints, whileObjectsStay } from "./location.ts";

const SHORT = CHECKPOINT_BRANCH.slice("refs/heads/".length);

/** Why a branch stays in the user's repository although we do not share checkpoints. */
export type SharedBy = "entire" | "remote" | "others";

/** Called by the worker. Cheap if there is nothing to move: reads one file. */
export async function relocateCheckpoints(workspace: Workspace): Promise<void> {
  if (workspace.kind === "private") return;
  if (sharesCheckpoints(workspace)) {
    const other = checkpointPlaces(workspace).find(isHidden);
    if (other && (hasRef(other, CHECKPOINT_BRANCH) || (await syncRefs(other)).length > 0)) await move(other, workspace);
    return;
  }
  const isThere = hasRef(workspace, CHECKPOINT_BRANCH);
  if (isThere && (await sharedBy(workspace)) !== null) return;
  if (!isThere && (await syncRefs(workspace)).length === 0) return;
  await move(workspace, checkpointHome(workspace));
  // The repository keeps the branch's objects until git prunes them; `doctor` reports that.
  if (isThere) leaveWitness(workspace);
}

/** Merges the branch of the user's repository into the home; the branch stays. */
export async function gatherCheckpoints(workspace: Workspace): Promise<void> {
  const home = checkpointHome(workspace);
  for (const place of checkpointPlaces(workspace)) {
    const tip = place.commonDir === home.commonDir ? null : await readRef(place, CHECKPOINT_BRANCH);
    if (tip !== null) await bring(tip, home);
  }
}

/** Returns null if only Backtrail uses the branch in the user's repository, or if there is none. */
export async function sharedBy(workspace: Workspace): Promise<SharedBy | null> {
  if (!hasRef(workspace, CHECKPOINT_BRANCH)) return null;
  if (await isEntireEnabled(workspace)) return "entire";
  const git = gitIn(workspace);
  const remotes = await git.try(["for-each-ref", "--count=1", `refs/remotes/*/${SHORT}`]);
  if (remotes.stdout.length > 0) return "remote";
  const upstream = await git.try(["config", "--get", `branch.${SHORT}.remote`]);
  if (upstream.code === 0) return "remote";
  return (await foreignCheckpoints(workspace)).size === 0 ? null : "others";
}

async function move(from: Workspace, to: Workspace): Promise<void> {
  for (;;) {
    const tip = await readRef(from, CHECKPOINT_BRANCH);
    if (tip === null) break;
    await bring(tip, to);
    faultPoint("checkpoints:moved");
    // If another process has moved the branch in the meantime, start over.
    if (await compareAndSwapRef(from, CHECKPOINT_BRANCH, tip, null)) await removeReflog(from, CHECKPOINT_BRANCH);
  }
  for (const ref of await syncRefs(from)) {
    const commit = await readRef(from, ref);
    if (commit === null) continue;
    const there = await readRef(to, ref);
    if (there === null) {
      const known = await knownIn(to);
      await whileObjectsStay(to, async () => {
        await copyHistory(to, [commit], known);
        await compareAndSwapRef(to, ref, null, commit);
      });
    }
    await compareAndSwapRef(from, ref, commit, null);
    await removeReflog(from, ref);
  }
}

async function bring(tip: string, to: Workspace): Promise<void> {
  const known = await knownIn(to);
  if (known.includes(tip)) return;
  await whileObjectsStay(to, async () => {
    await copyHistory(to, [tip], known);
    faultPoint("checkpoints:copied");
    await mergeInto(to, tip);
  });
}

/** Returns the commits that the repository has by its own refs, without borrowed objects. */
export async function knownIn(place: Workspace): Promise<string[]> {
  const refs = [CHECKPOINT_BRANCH, ...(await syncRefs(place))];
  const commits = await Promise.all(refs.map((ref) => readRef(place, ref)));
  return [...new Set(commits.flatMap((commit) => commit ?? []))];
}

async function syncRefs(place: Workspace): Promise<string[]> {
  const listed = await gitIn(place).run(["for-each-ref", "--format=%(refname)", SYNC_REFS]);
  return listed.toString("utf8").split("\n").filter(Boolean);
}
