/**
 * Pushing: never by force. Whatever the remote has that is not here is fetched and joined first, and a remote that moved meanwhile is
 * looked at again. No hook runs, so that our own push can never start another.
 */
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { shorten } from "../../base/text.ts";
import { readRef } from "../../git/refs.ts";
import { farGit } from "../../git/remote.ts";
import type { Workspace } from "../../git/workspace.ts";
import { treeOf } from "../commit.ts";
import { CHECKPOINT_BRANCH } from "../layout.ts";
import { openObjects } from "../write.ts";
import { fetchCheckpoints, note } from "./fetch.ts";
import { type Patience, unreachable } from "./incoming.ts";
import { requireClean } from "./outgoing.ts";
import { type Remote, refusal, withoutPassword } from "./remote.ts";
import { differing } from "./unite.ts";

export interface Pushed {
  /** Checkpoints that the remote did not have, or not so much of. */
  pushed: string[];
  /** Checkpoints that came from there on the way. */
  fetched: string[];
}

const ATTEMPTS = 5;
/** What a server says to a push that another one has overtaken. */
const OVERTAKEN =
  /fetch first|non-fast-forward|stale info|failed to update ref|cannot lock ref|reference already exists/;

export interface PushOptions extends Patience {
  /** Push although something in it looks secret. */
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
      throw new UserError("failed", `${remote.name} did not take the checkpoints: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 200 * attempt));
  }
}

/** Null where it went well; otherwise what the other side said. */
async function push(workspace: Workspace, remote: Remote, tip: string, patience: Patience): Promise<string | null> {
  const args = ["push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"];
  const { seconds, signal } = patience;
  const result = await farGit([...args, "--", remote.pushTo, `${tip}:${CHECKPOINT_BRANCH}`], {
    cwd: workspace.root,
    timeoutMs: seconds * 1000,
    signal,
  });
  if (result.code === 0 && result.ended === null) return null;
  const rejected = /^!\t\S+\t(.*)$/m.exec(result.stdout.toString("utf8"))?.[1];
  const why = refusal(result, seconds) ?? "";
  if (rejected === undefined || result.ended !== null) throw unreachable(remote, why, patience);
  return shorten(withoutPassword(`${rejected}${/remote:/.test(why) ? ` (${why})` : ""}`), 400);
}

async function newThere(workspace: Workspace, theirs: string | null, tip: string): Promise<string[]> {
  const objects = openObjects(workspace);
  try {
    const there = theirs === null ? null : await treeOf(objects.reader, theirs);
    return await differing(objects, there, await treeOf(objects.reader, tip));
  } finally {
    objects.reader.close();
  }
}
