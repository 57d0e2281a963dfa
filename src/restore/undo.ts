/** Taking back single turns, or the work of a subagent, and keeping what came later; and bringing them back again. */
import { UserError } from "../base/errors.ts";
import { looksLikeStepId } from "../base/ids.ts";
import { oneLine, shorten } from "../base/text.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { compareTrees } from "../git/tree-diff.ts";
import { TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { findSessionId } from "../steps/list.ts";
import type { Step } from "../steps/model.ts";
import { planChatToTell } from "./chat.ts";
import type { Merge, Receipt, RewindOptions, RewindPlan } from "./model.ts";
import type { RestoreRecord } from "./records.ts";
import { applyRestore, planRestore } from "./rewind.ts";
import { type TreeState, takeBack } from "./take-back.ts";
import { SHORTEST_SESSION } from "./target.ts";
import { undosHere, wayHere } from "./timeline.ts";
import { type FoundTurn, findTurns, isCount, nameKey, type TurnName } from "./turns.ts";
import { ownChanges } from "./whose.ts";

export interface UndoOptions extends Pick<RewindOptions, "tellAgent" | "reason"> {
  /** Write conflicts into the files, between markers, instead of refusing. */
  markers?: boolean;
  /** Whose turns numbers and `last` mean: the whole id. */
  session?: string | undefined;
}

/** A turn that is not in the files any more, and the restore that took it out. */
export interface UndoneTurn extends TurnName {
  restore: string;
  time: string;
}

/** Turns (and subagents' work) that were undone and still are, the last undone first. */
export function undoneTurns(workspace: Workspace): UndoneTurn[] {
  return undosHere(workspace).flatMap(({ id, time, target }) =>
    "turns" in target ? target.turns.map((turn) => ({ ...turn, restore: id, time })) : [],
  );
}

/** `words` as a person gives them: steps of a turn or subagent, `last`, numbers of turns back, subagents' or sessions' ids. */
export async function planUndo(
  workspace: Workspace,
  words: readonly string[],
  { markers = false, session, tellAgent, reason }: UndoOptions = {},
): Promise<RewindPlan> {
  const turns = await findTurns(
    workspace,
    words.map((word) => turnMeant(workspace, word.trim(), session)),
    session,
  );
  refuseGone(workspace, turns);
  const merge = await withTrees(workspace, async ({ trees }) => ({
    ...(await ownChanges(workspace, trees, turns)),
    markers,
  }));
  refuseUntold(turns, merge);
  const newestFirst = [...turns].sort((a, b) => (a.last.time < b.last.time ? 1 : -1));
  return planRestore(workspace, {
    kind: "undo",
    target: { kind: "turns", turns: newestFirst },
    options: { tellAgent, reason },
    takesBack: null,
    merge,
    chat: tellAgent ? await planChatToTell(workspace, newestFirst[0]?.last) : null,
  });
}

/** A subagent beside another one, or beside the turn itself, whose tools did not say what they wrote. */
function refuseUntold(turns: readonly FoundTurn[], { changes, shared }: Pick<Merge, "changes" | "shared">): void {
  if (changes.length > 0 || shared.length > 0) return;
  const untold = turns.find(
    ({ subagent, first, last }) => subagent !== null && first?.snapshot.work !== last.snapshot.work,
  );
  if (!untold) return;
  throw new UserError(
    "not-found",
    "What this subagent changed can't be told from what was done beside it.",
    "The whole turn can be taken back: `backtrail log` shows it.",
  );
}

export async function applyUndo(workspace: Workspace, plan: RewindPlan): Promise<Receipt> {
  return applyRestore(workspace, plan);
}

/** How to take an undo back so that what came after it stays; null for a rewind, whose target says it all. */
export async function bringingBack(workspace: Workspace, record: RestoreRecord, safety: Step): Promise<Merge | null> {
  const { target } = record;
  if (!("turns" in target)) return null;
  return withTrees(workspace, async (objects) => {
    const { trees } = objects;
    const before: TreeState = { work: safety.snapshot.work, raw: safety.snapshot.raw };
    const after = await takeBack(workspace, objects, before, target.changes, target.markers);
    const paths = new Set<string>();
    for (const { path } of await compareTrees(trees, before.work, after.work)) paths.add(path);
    for (const { path } of await compareTrees(trees, before.raw, after.raw)) paths.add(path);
    const change = {
      before,
      after: { work: after.work, raw: after.raw },
      paths: [...paths],
      name: `the-${record.kind}`,
    };
    return { changes: [change], shared: [], markers: false, later: null };
  });
}

/** A session's id stands for its newest turn; steps are named in other letters. */
function turnMeant(workspace: Workspace, word: string, session: string | undefined): string {
  if (word === "last") return lastTurn(workspace, session);
  if (word.length < SHORTEST_SESSION || isCount(word) || looksLikeStepId(word)) return word;
  const meant = findSessionId(workspace, word);
  return meant === undefined ? word : lastTurn(workspace, meant);
}

/** The newest turn that is still in the files. */
function lastTurn(workspace: Workspace, of: string | undefined): string {
  const undone = new Set(undoneTurns(workspace).map(nameKey));
  for (const { id, kind, agent, session, turn } of wayHere(workspace)) {
    if (kind !== "turn-end" || agent === null || session === null) continue;
    if (of !== undefined && session !== of) continue;
    if (!undone.has(nameKey({ agent, session, turn, subagent: null }))) return id;
  }
  const whose = of === undefined ? "" : " of that session";
  throw new UserError(
    "not-found",
    `There is no turn${whose} here to take back.`,
    "`backtrail log` shows what is recorded.",
  );
}

function refuseGone(workspace: Workspace, turns: readonly FoundTurn[]): void {
  const undone = new Set(undoneTurns(workspace).map(nameKey));
  const here = new Set([...wayHere(workspace)].map(({ id }) => id));
  for (const turn of turns) {
    if (undone.has(nameKey(turn)) || undone.has(nameKey({ ...turn, subagent: null })))
      throw new UserError(
        "not-found",
        `${shownTurn(turn)} is undone already.`,
        "`backtrail redo` takes the last undo back.",
      );
    if (!here.has(turn.last.id))
      throw new UserError(
        "not-found",
        `${shownTurn(turn)} is not part of the present: a rewind took it back.`,
        "`backtrail log` shows which turns led here.",
      );
  }
}

export function shownTurn({ turn, subagent, prompt }: FoundTurn): string {
  const what = subagent === null ? `Turn ${turn}` : `The subagent of turn ${turn}`;
  return prompt === null ? what : `${what} ("${shorten(oneLine(prompt), 60)}")`;
}

async function withTrees<T>(
  workspace: Workspace,
  work: (objects: { trees: TreeStore; writer: ObjectWriter }) => Promise<T>,
): Promise<T> {
  const reader = new ObjectReader(workspace);
  try {
    const writer = new ObjectWriter(workspace);
    return await work({ trees: new TreeStore(reader, writer), writer });
  } finally {
    reader.close();
  }
}
