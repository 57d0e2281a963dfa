/** Fetching: what a remote has of checkpoints comes in, is checked, and joins what is here. */
import { messageOf } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { treeOf } from "../commit.ts";
import { CHECKPOINT_BRANCH } from "../layout.ts";
import { openObjects } from "../write.ts";
import { type Offer, offerOf, type Patience, receive } from "./incoming.ts";
import { mergeInto } from "./merge.ts";
import type { Remote } from "./remote.ts";
import { SYNC_REFS } from "./state.ts";
import { differing } from "./unite.ts";

const ATTEMPTS = 3;
/** What a server says that no longer has what it offered. */
const MOVED = /unadvertised object|not our ref|couldn't find remote ref/;
/** Commits asked for in one go: a command line has an end. */
const AT_ONCE = 2_000;

export interface Fetched {
  /** The remote's tip of the branch; null where it has none. */
  theirs: string | null;
  /** Checkpoints that are new here, or hold more than before. */
  changed: string[];
  joined: boolean;
  /** Of the newer layout: how many came, and how many stand here differently and were left. */
  refs: { added: number; left: number };
}

/** The remote's branch as it was last seen. */
export function seenRef({ key }: Remote): string {
  return SYNC_REFS + key;
}

export interface FetchOptions extends Patience {
  /** Not the refs of the newer layout. */
  branchOnly?: boolean;
}

/** A remote that moved between its offer and our asking for it is looked at again. */
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

/** What the remote offered is here afterwards. */
async function take(workspace: Workspace, remote: Remote, offer: Offer, patience: Patience): Promise<Fetched> {
  const wanted = await missing(workspace, offer);
  for (let i = 0; i < wanted.length; i += AT_ONCE)
    await receive(workspace, remote, wanted.slice(i, i + AT_ONCE), patience);
  const refs = await takeRefs(workspace, offer.refs);
  if (offer.branch === null) return { theirs: null, changed: [], joined: false, refs };
  await note(workspace, remote, offer.branch);
  faultPoint("sync:fetched");
  const { changed, joined } = await mergeInto(workspace, offer.branch);
  return { theirs: offer.branch, changed, joined, refs };
}

/** From here on git keeps what was fetched, and `sync status` knows how far the remote is. */
export async function note(workspace: Workspace, remote: Remote, commit: string): Promise<void> {
  await compareAndSwapRef(workspace, seenRef(remote), await readRef(workspace, seenRef(remote)), commit);
}

/**
 * Refs of the newer layout are made, or moved forward. One that stands elsewhere here is nobody's to overwrite, nor is a
 * checkpoint of the branch, before which it would be read.
 */
async function takeRefs(workspace: Workspace, refs: ReadonlyMap<string, string>): Promise<Fetched["refs"]> {
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

/** An object that is here need not be whole: only what a ref holds counts as had. */
async function missing(workspace: Workspace, { branch, refs }: Offer): Promise<string[]> {
  const wanted = new Set<string>();
  if (branch !== null && !(await isHeld(workspace, branch))) wanted.add(branch);
  for (const [ref, commit] of refs) if ((await readRef(workspace, ref)) !== commit) wanted.add(commit);
  return [...wanted];
}

async function checkpointsHere(workspace: Workspace): Promise<string[]> {
  const objects = openObjects(workspace);
  try {
    const tip = await readRef(workspace, CHECKPOINT_BRANCH);
    return tip === null ? [] : await differing(objects, await treeOf(objects.reader, tip), null);
  } finally {
    objects.reader.close();
  }
}

async function isHeld(workspace: Workspace, commit: string): Promise<boolean> {
  const args = ["for-each-ref", "--count=1", "--format=x", `--contains=${commit}`];
  const places = ["refs/heads/entire", "refs/entire", "refs/backtrail/sync", "refs/remotes/*/entire"];
  const { code, stdout } = await tryGit([...args, ...places], { cwd: workspace.root });
  return code === 0 && stdout.length > 0;
}

async function isAncestor(workspace: Workspace, older: string, newer: string): Promise<boolean> {
  return (await tryGit(["merge-base", "--is-ancestor", older, newer], { cwd: workspace.root })).code === 0;
}
