/** Fetches a remote's checkpoints, checks them, and merges them into the local ones. */
import { messageOf } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { gitIn } from "../../git/git.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { whileObjectsStay } from "../branch/location.ts";
import { CHECKPOINT_BRANCH } from "../format/layout.ts";
import { treeOf } from "../write/commit.ts";
import { openObjects } from "../write/write.ts";
import { type Offer, offerOf, type Patience, receive } from "./incoming.ts";
import { mergeInto } from "./merge.ts";
import { differing } from "./merge-trees.ts";
import type { Remote } from "./remote.ts";
import { SYNC_REFS } from "./state.ts";

const ATTEMPTS = 3;
/** A server's messages when it no longer has a commit that it offered. */
const MOVED = /unadvertised object|not our ref|couldn't find remote ref/;
/** Maximum number of commits per request, because command lines are limited. */
const AT_ONCE = 2_000;

export interface Fetched {
  /** The remote's tip of the branch; null if it has none. */
  theirs: string | null;
  /** Checkpoints that are new here, or have gained content. */
  changed: string[];
  joined: boolean;
  /** Refs of the newer layout: how many were added, and how many were left because they differ locally. */
  refs: { added: number; left: number };
  /** The number of refs in the newer layout that the remote offers. */
  offeredRefs: number;
}

/** The ref that holds the remote's branch as last seen. */
export function seenRef({ key }: Remote): string {
  return SYNC_REFS + key;
}

export interface FetchOptions extends Patience {
  /** Skip the refs of the newer layout. */
  branchOnly?: boolean;
}

/** Retries if the remote moves between its offer and our request. */
export async function fetchCheckpoints(workspace: Workspace, remote: Remote, options: FetchOptions): Promise<Fetched> {
  for (let attempt = 1; ; attempt++) {
    const offer = await offerOf(workspace, remote, options);
    if (options.branchOnly) offer.refs.clear();
    try {
      return await take(workspace, remote, offer, options);
    } catch (error) {
      if (attempt >= ATTEMPTS || !MOVED.test(messageOf(error))) throw error;
    }
  }
}

/** Receives and merges what the remote offers. */
async function take(workspace: Workspace, remote: Remote, offer: Offer, patience: Patience): Promise<Fetched> {
  const { branch } = offer;
  const wanted = await missing(workspace, offer);
  let added = 0;
  const hold = async (ids: readonly string[]) => {
    if (branch !== null && ids.includes(branch)) await note(workspace, remote, branch);
    const refs = new Map([...offer.refs].filter(([, commit]) => ids.includes(commit)));
    added += (await takeRefs(workspace, refs)).added;
  };
  for (let i = 0; i < wanted.length; i += AT_ONCE)
    await receive(workspace, remote, wanted.slice(i, i + AT_ONCE), patience, hold);
  const rest = await takeRefs(workspace, offer.refs);
  const refs = { added: added + rest.added, left: rest.left };
  const offeredRefs = offer.refs.size;
  if (branch === null) return { theirs: null, changed: [], joined: false, refs, offeredRefs };
  await note(workspace, remote, branch);
  faultPoint("sync:fetched");
  const { changed, joined } = await whileObjectsStay(workspace, () => mergeInto(workspace, branch));
  return { theirs: branch, changed, joined, refs, offeredRefs };
}

/** Keeps git from deleting the fetched commit, and records the remote's position for `sync status`. */
export async function note(workspace: Workspace, remote: Remote, commit: string): Promise<void> {
  await compareAndSwapRef(workspace, seenRef(remote), await readRef(workspace, seenRef(remote)), commit);
}

/**
 * Creates or fast-forwards refs of the newer layout. Never overwrites a ref that has diverged, and never shadows a
 * checkpoint of the branch, since readers prefer the ref.
 */
async function takeRefs(
  workspace: Workspace,
  refs: ReadonlyMap<string, string>,
): Promise<{ added: number; left: number }> {
  const count = { added: 0, left: 0 };
  const own = refs.size > 0 ? new Set(await checkpointsHere(workspace)) : new Set<string>();
  for (const [ref, commit] of refs) {
    const here = await readRef(workspace, ref);
    if (here === commit) continue;
    const forward = here === null ? !own.has(ref.split("/").at(-1) ?? "") : await isAncestor(workspace, here, commit);
    if (forward && (await compareAndSwapRef(workspace, ref, here, commit))) count.added++;
    else count.left++;
  }
  return count;
}

/** An object that exists may still lack its dependencies: only commits that a ref holds count as present. */
async function missing(workspace: Workspace, { branch, refs }: Offer): Promise<string[]> {
  const wanted = new Set<string>();
  if (branch !== null && !(await isHeld(workspace, branch))) wanted.add(branch);
  for (const [ref, commit] of refs) if ((await readRef(workspace, ref)) !== commit) wanted.add(commit);
  return [...wanted];
}

async function checkpointsHere(workspace: Workspace): Promise<string[]> {
  using objects = openObjects(workspace);
  const tip = await readRef(workspace, CHECKPOINT_BRANCH);
  return tip === null ? [] : await differing(objects, await treeOf(objects.reader, tip), null);
}

async function isHeld(workspace: Workspace, commit: string): Promise<boolean> {
  const args = ["for-each-ref", "--count=1", "--format=x", `--contains=${commit}`];
  const places = ["refs/heads/entire", "refs/entire", "refs/backtrail/sync", "refs/remotes/*/entire"];
  const { code, stdout } = await gitIn(workspace).try([...args, ...places]);
  return code === 0 && stdout.length > 0;
}

async function isAncestor(workspace: Workspace, older: string, newer: string): Promise<boolean> {
  return (await gitIn(workspace).try(["merge-base", "--is-ancestor", older, newer])).code === 0;
}
