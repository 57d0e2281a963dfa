/**
 * What of a plan can be made while git still looks at the work tree: what has nothing to do with the files, and what can
 * be begun on the chance that they are as the last snapshot left them. Mostly they are; otherwise it is made anew.
 */
import { listAgents } from "../agents/registry.ts";
import type { Capture, Snapshot } from "../git/snapshot.ts";
import { compareAhead } from "../git/tree-diff.ts";
import type { Workspace } from "../git/workspace.ts";
import { planChat } from "./chat.ts";
import type { RestoreRequest } from "./draw-up.ts";
import type { ChatPlan, NotUndone } from "./model.ts";
import { notUndoneElsewhere } from "./not-undone.ts";
import { type PlanObjects, stateOf, unwatchedPaths } from "./state.ts";
import { type TakenBack, takeBack } from "./take-back.ts";

/** More would only stand in each other's way. */
const MOST_PROCESSES = 2;

export interface WorkAhead extends Omit<PlanObjects, "trees"> {
  chat: Promise<ChatPlan>;
  notUndone: Promise<NotUndone[]>;
  /** What the merge into this state gives, if it was into this state that it was begun. */
  mergedInto(present: Snapshot): Promise<TakenBack | undefined>;
}

export function workAhead(
  workspace: Workspace,
  capture: Capture,
  looking: Promise<Snapshot>,
  request: RestoreRequest,
): WorkAhead {
  const { chatOnly } = request.options;
  const begun = {
    agents: listAgents(),
    unwatched: chatOnly ? Promise.resolve(new Set<string>()) : unwatchedPaths(workspace),
    chat: chatFor(workspace, request),
    notUndone: chatOnly ? Promise.resolve([]) : notUndoneElsewhere(workspace, looking, request),
  };
  // Whoever waits for one of them learns that it failed; nobody may ever wait.
  for (const promise of Object.values(begun)) promise.catch(() => {});
  return { ...begun, mergedInto: chatOnly ? async () => undefined : mergeAhead(workspace, capture, request) };
}

function mergeAhead(
  workspace: Workspace,
  capture: Capture,
  { target, merge }: RestoreRequest,
): WorkAhead["mergedInto"] {
  const { last, trees } = capture;
  if (last && merge) {
    for (const { before, after } of merge.changes.slice(0, MOST_PROCESSES))
      compareAhead(workspace, trees, after.work, before.work);
    const begun = takeBack(workspace, capture, last, merge.changes, merge.markers)
      .then((merged) => {
        compareAhead(workspace, trees, last.work, merged.work);
        return merged;
      })
      // Whoever needs it makes it anew, and learns what is wrong.
      .catch(() => undefined);
    return async ({ work, raw }) => (work === last.work && raw === last.raw ? begun : undefined);
  }
  if (last && target.kind !== "turns") compareAhead(workspace, trees, last.work, stateOf(target).work);
  return async () => undefined;
}

async function chatFor(workspace: Workspace, { target, options, chat }: RestoreRequest): Promise<ChatPlan> {
  if (options.codeOnly) return { kind: "none", why: "Only the files were asked for." };
  if (!options.chatOnly && options.paths && options.paths.length > 0) {
    return { kind: "none", why: "Only some files were asked for; the conversation stays as it is." };
  }
  if (chat) return chat;
  if (target.kind === "commit") return { kind: "none", why: "A commit has no conversation." };
  if (target.kind === "turns")
    return {
      kind: "none",
      why: "The conversation stays as it is (--tell-agent makes a copy that knows).",
    };
  return planChat(workspace, target.step);
}
