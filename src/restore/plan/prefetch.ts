/**
 * Starts the parts of a plan that can run while git scans the work tree: those independent of the files, and those
 * based on the last snapshot, which is usually still current. A stale result is computed again.
 */
import { listAgents } from "../../agents/registry/registry.ts";
import { prefetchDiff } from "../../git/objects/tree-diff.ts";
import type { Capture, Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { existingConversation } from "../conversation/existing.ts";
import { planChat } from "../conversation/fork.ts";
import { type Reverted, revertChanges } from "../revert/revert.ts";
import { notUndoneElsewhere } from "../side-effects/collect.ts";
import type { SideEffect } from "../side-effects/model.ts";
import type { ChatPlan } from "../types.ts";
import type { RestoreRequest } from "./plan.ts";
import { type PlanObjects, stateOf, unwatchedPaths } from "./state.ts";

/** More processes would only compete with each other. */
const MAX_PROCESSES = 2;

export interface Prefetch extends Pick<PlanObjects, "unwatched" | "agents"> {
  chat: Promise<ChatPlan>;
  notUndone: Promise<SideEffect[]>;
  /** The result of the prefetched merge, if it was computed for this state. */
  mergedInto(present: Snapshot): Promise<Reverted | undefined>;
}

export function prefetch(
  workspace: Workspace,
  capture: Capture,
  looking: Promise<Snapshot>,
  request: RestoreRequest,
): Prefetch {
  const { chatOnly } = request.options;
  const begun = {
    agents: listAgents(),
    unwatched: chatOnly ? Promise.resolve(new Set<string>()) : unwatchedPaths(workspace),
    chat: chatFor(workspace, request),
    notUndone: chatOnly ? Promise.resolve([]) : notUndoneElsewhere(workspace, looking, request),
  };
  // A caller that awaits one of these sees the error; a promise that is never awaited must not be unhandled.
  for (const promise of Object.values(begun)) promise.catch(() => {});
  return { ...begun, mergedInto: chatOnly ? async () => undefined : mergeAhead(workspace, capture, request) };
}

function mergeAhead(workspace: Workspace, capture: Capture, { target, merge }: RestoreRequest): Prefetch["mergedInto"] {
  const { last, scratch } = capture;
  const { trees } = scratch;
  if (last && merge) {
    for (const { before, after } of merge.changes.slice(0, MAX_PROCESSES))
      prefetchDiff(workspace, trees, after.work, before.work);
    const begun = revertChanges(workspace, scratch, last, merge.changes, merge.markers)
      .then((merged) => {
        prefetchDiff(workspace, trees, last.work, merged.work);
        return merged;
      })
      // The caller repeats the merge and reports the error.
      .catch(() => undefined);
    return async ({ work, raw }) => (work === last.work && raw === last.raw ? begun : undefined);
  }
  if (target.kind === "turns") return async () => undefined;
  const { work, index, permissions } = stateOf(target);
  if (last) prefetchDiff(workspace, trees, last.work, work);
  // The permissions of restored files depend on which files the step read, those that differ from its index.
  if (permissions !== undefined && index !== null) prefetchDiff(workspace, trees, index, work);
  return async () => undefined;
}

async function chatFor(workspace: Workspace, { kind, target, options, chat }: RestoreRequest): Promise<ChatPlan> {
  if (options.codeOnly) return { kind: "none", reason: { kind: "code-only" } };
  if (!options.chatOnly && options.paths && options.paths.length > 0) {
    return { kind: "none", reason: { kind: "some-files" } };
  }
  if (chat) return chat;
  if (target.kind === "commit") return { kind: "none", reason: { kind: "commit" } };
  if (target.kind === "turns")
    return {
      kind: "none",
      reason: { kind: "undo-only" },
    };
  // A copy would be identical, unless it must end with an undo notice.
  const existing =
    kind === "rewind" && !options.tellAgent ? await existingConversation(workspace, target.step) : undefined;
  return existing ?? planChat(workspace, target.step);
}
