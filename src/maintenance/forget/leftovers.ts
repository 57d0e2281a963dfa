/** Reports where forgotten data may remain, and the commands that delete it. */

import { checkpointPlaces, isHidden } from "../../checkpoints/branch/location.ts";
import { sharedCheckpointRefs } from "../../checkpoints/branch/rewrite-history.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/format/layout.ts";
import { SYNC_REFS } from "../../checkpoints/sync/state.ts";
import { hasRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { shellWord } from "../../model/command.ts";
import { oldObjects, WITNESS } from "../../steps/upkeep/old-objects.ts";
import type { ForgetPlan } from "./plan.ts";

export interface ForgetLeft {
  /** Unreferenced objects of the user's repository: code of steps, earlier checkpoints, old conversations. */
  inObjectStore: ("code" | "checkpoints" | "conversation")[];
  /** Other repositories have the checkpoints, and commits of the branch still contain the data. */
  shared: boolean;
  /** Commands to run in this order; afterwards the repository no longer contains the data. */
  commands: string[];
}

/** Call this after `forget`. */
export async function leftAfterForgetting(workspace: Workspace, plan: ForgetPlan): Promise<ForgetLeft> {
  if (workspace.kind === "private") return { inObjectStore: [], shared: false, commands: [] };
  const inObjectStore: ForgetLeft["inObjectStore"] = [];
  const keys = new Set(plan.sessions.map(({ key }) => key));
  const hasCode = plan.steps.length > 0 || plan.sessions.some(({ steps }) => steps.length > 0);
  if (hasCode && !plan.conversationOnly) inObjectStore.push("code");
  const places = plan.checkpoints > 0 ? checkpointPlaces(workspace) : [];
  const shared = await Promise.all(places.map(async (place) => ({ place, refs: await sharedCheckpointRefs(place) })));
  const isFetched = shared.some(({ place, refs }) => !isHidden(place) && refs.length > 0);
  if (plan.publicCheckpoints > 0 || isFetched) inObjectStore.push("checkpoints");
  if ((await oldObjects(workspace, new Set([...keys, WITNESS]))).length > 0) inObjectStore.push("conversation");
  const prune = inObjectStore.length > 0 ? ["git gc --prune=now"] : [];
  const commands = shared.flatMap(({ place, refs }) => unshare(place, refs));
  return { inObjectStore, shared: commands.length > 0, commands: [...commands, ...prune] };
}

/** Commands that reduce the branch to one commit, here and on the remote, and expire reflogs of its old commits. */
function unshare(place: Workspace, refs: readonly string[]): string[] {
  if (refs.length === 0) return [];
  const branch = CHECKPOINT_BRANCH.replace("refs/heads/", "");
  const git = isHidden(place) ? `git --git-dir=${shellWord(place.gitDir)}` : "git";
  const expire = (ref: string) => `${git} reflog expire --expire=now --expire-unreachable=now ${shellWord(ref)}`;
  const drop = refs.map((ref) => (ref.startsWith(SYNC_REFS) ? `${git} update-ref -d ${shellWord(ref)}` : expire(ref)));
  // Only the user's git has fetched the branch.
  if (!hasRef(place, CHECKPOINT_BRANCH)) return ["git fetch --quiet <remote>", ...drop];
  const begin = `${git} update-ref ${CHECKPOINT_BRANCH} "$(${git} commit-tree -m Checkpoints ${branch}^{tree})"`;
  if (!isHidden(place)) return [begin, expire(CHECKPOINT_BRANCH), `git push --force <remote> ${branch}`, ...drop];
  const push = `${git} push --force "$(git remote get-url --push <remote>)" ${branch}`;
  return [begin, push, ...drop, `${git} gc --quiet --prune=now`];
}
