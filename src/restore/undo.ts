/** Undoes single turns or a subagent's work while keeping later changes. */

import { looksLikeStepId, sessionKey } from "../base/ids.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { isTurnStep, turnKey } from "../model/turn.ts";
import { loadSession } from "../recording/session/store.ts";
import { withTrees } from "./changes/with-trees.ts";
import { planChatToTell } from "./conversation/fork.ts";
import { type NamedTurn, RestoreError } from "./problems.ts";
import { ownChanges } from "./revert/own-changes.ts";
import { applyRestore, planRestore } from "./rewind.ts";
import { activeSteps, activeUndos, turnAt, turnNumbers } from "./targets/history.ts";
import { sessionsBeginning } from "./targets/sessions.ts";
import { type FoundTurn, findTurns, nameKey, notEnded, type TurnName } from "./targets/turns.ts";
import { isMarkedCount, turnCount } from "./targets/words.ts";
import type { AppliedProposal, ChatPlan, Merge, Receipt, RestorePlan, RewindOptions } from "./types.ts";

export interface UndoOptions extends Pick<RewindOptions, "tellAgent" | "reason" | "proposal"> {
  /** Write conflict markers into the files instead of refusing. */
  markers?: boolean;
  /** Full id of the session that turn numbers and `last` refer to. */
  session?: string | undefined;
}

/** An undone turn and the restore that undid it. */
export interface UndoneTurn extends TurnName {
  restore: string;
  time: string;
}

/** Turns and subagents' work that are currently undone, most recently undone first. */
export function undoneTurns(workspace: Workspace): UndoneTurn[] {
  return activeUndos(workspace).flatMap(({ id, time, target }) =>
    "turns" in target ? target.turns.map((turn) => ({ ...turn, restore: id, time })) : [],
  );
}

/** `words` are the user's arguments: steps of a turn or subagent, `last`, turn counts, subagent or session ids. */
export async function planUndo(
  workspace: Workspace,
  words: readonly string[],
  { markers = false, session, tellAgent, reason, proposal }: UndoOptions = {},
): Promise<RestorePlan> {
  const turns = await findTurns(
    workspace,
    words.map((word) => resolveTurnArgument(workspace, word.trim(), session)),
    session,
  );
  assertStillApplied(workspace, turns);
  const merge = await withTrees(workspace, async ({ trees }) => ({
    ...(await ownChanges(workspace, trees, turns)),
    markers,
  }));
  assertAttributable(turns, merge);
  const newestFirst = [...turns].sort((a, b) => (a.last.time < b.last.time ? 1 : -1));
  return planRestore(workspace, {
    kind: "undo",
    target: { kind: "turns", turns: newestFirst },
    options: { tellAgent, reason, proposal },
    takesBack: null,
    merge,
    chat: tellAgent
      ? await planChatToTell(workspace, newestFirst[0]?.last)
      : proposal
        ? chatOfProposal(proposal)
        : null,
  });
}

function chatOfProposal({ by }: AppliedProposal): ChatPlan {
  return { kind: "none", reason: { kind: by === null ? "unchanged" : "notified-later" } };
}

/** True if the undone turns changed no files at all, as opposed to files that changed again since. */
export function changedNothing({ kind, merge }: RestorePlan): boolean {
  return kind === "undo" && merge !== null && merge.changes.length + merge.shared.length === 0;
}

/** The newest turn whose file changes are not undone, and how many turns back it is. */
export function newestWithChanges(workspace: Workspace): { step: Step; back: number } | undefined {
  const undone = new Set(undoneTurns(workspace).map(nameKey));
  const numbers = turnNumbers(workspace);
  for (const step of activeSteps(workspace)) {
    const { agent, session, turn, kind, files } = step;
    const back = numbers.get(turnKey(step));
    if (kind !== "turn-end" || agent === null || session === null || back === undefined) continue;
    if (files.added.length + files.modified.length + files.deleted.length === 0) continue;
    if (!undone.has(nameKey({ agent, session, turn, subagent: null }))) return { step, back };
  }
  return undefined;
}

/**
 * Fails if a subagent's changes can't be attributed: it ran alongside other work and its tools did not report files.
 */
function assertAttributable(turns: readonly FoundTurn[], { changes, shared }: Pick<Merge, "changes" | "shared">): void {
  if (changes.length > 0 || shared.length > 0) return;
  const unclear = turns.find(
    ({ subagent, first, last }) => subagent !== null && first?.snapshot.work !== last.snapshot.work,
  );
  if (!unclear) return;
  throw new RestoreError("not-found", { kind: "subagent-unclear" });
}

export async function applyUndo(workspace: Workspace, plan: RestorePlan, agreed?: RestorePlan): Promise<Receipt> {
  return applyRestore(workspace, plan, agreed);
}

/** A session id means its newest turn. Step ids use a different alphabet, so the two can't be confused. */
function resolveTurnArgument(workspace: Workspace, word: string, session: string | undefined): string {
  if (word === "last") return lastTurn(workspace, session);
  if (looksLikeStepId(word) || isMarkedCount(word)) return word;
  const count = turnCount(word);
  if (count !== null && "steps" in turnAt(workspace, count, session)) return word;
  const [meant, ...others] = sessionsBeginning(workspace, word);
  if (others.length > 0) throw new RestoreError("usage", { kind: "session-ambiguous", text: word });
  return meant?.session == null ? word : lastTurn(workspace, meant.session);
}

/** The newest turn that is not undone. */
function lastTurn(workspace: Workspace, of: string | undefined): string {
  const undone = new Set(undoneTurns(workspace).map(nameKey));
  const newest = new Map<string, Step>();
  for (const step of activeSteps(workspace)) {
    const { id, kind, agent, session, turn } = step;
    if (agent === null || session === null || (of !== undefined && session !== of)) continue;
    if (isTurnStep(step) && !newest.has(session)) newest.set(session, step);
    if (kind !== "turn-end" || undone.has(nameKey({ agent, session, turn, subagent: null }))) continue;
    // A later turn is running or was interrupted, so this is not the last one.
    const last = newest.get(session);
    const isOpen = (last?.turn ?? 0) > turn && loadSession(workspace, sessionKey(agent, session))?.openTurn;
    if (last && isOpen) throw notEnded(workspace, last);
    return id;
  }
  throw new RestoreError("not-found", { kind: "no-turn-to-undo", inSession: of !== undefined });
}

function assertStillApplied(workspace: Workspace, turns: readonly FoundTurn[]): void {
  const undone = new Set(undoneTurns(workspace).map(nameKey));
  const here = new Set([...activeSteps(workspace)].map(({ id }) => id));
  for (const turn of turns) {
    if (undone.has(nameKey(turn)) || undone.has(nameKey({ ...turn, subagent: null })))
      throw new RestoreError("not-found", { kind: "turn-undone", ...turnNamed(turn) });
    if (!here.has(turn.last.id)) throw new RestoreError("not-found", { kind: "turn-rewound", ...turnNamed(turn) });
  }
}

/** Names a turn by its step, which does not depend on how turns are counted. */
function turnNamed({ last, subagent, prompt }: FoundTurn): NamedTurn {
  return { step: last.id, isSubagent: subagent !== null, prompt };
}
