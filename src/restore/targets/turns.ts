/** Finds the turns or subagents that the user wants to undo, and the steps around their work. */

import { looksLikeStepId, sessionKey } from "../../base/ids.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep, turnKey } from "../../model/turn.ts";
import { loadSession } from "../../recording/session/store.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { stepsIn } from "../../steps/log.ts";

import { RestoreError } from "../problems.ts";
import { turnAt, turnNumbers } from "./history.ts";
import { countedFromOne } from "./resolve.ts";
import { isMarkedCount, isZero, turnCount } from "./words.ts";

/** A turn, or the work of one of its subagents. */
export interface TurnName {
  agent: string;
  session: string;
  turn: number;
  /** The subagent's own id; null for the whole turn. */
  subagent: string | null;
}

export interface FoundTurn extends TurnName {
  /** The step where the turn began; null if no earlier step exists. */
  first: Step | null;
  /** The step where the turn ended. */
  last: Step;
  prompt: string | null;
  /** Files that the turn itself changed. */
  files: string[];
  /** End steps of the turn's subagents. */
  tasks: string[];
  /** How many turns back, 1 for the newest; null if counted within one session. */
  back: number | null;
}

/** In the given order, without duplicates. With a session, counts refer to its turns only. */
export async function findTurns(
  workspace: Workspace,
  words: readonly string[],
  session?: string,
): Promise<FoundTurn[]> {
  const found = new Map<string, FoundTurn>();
  const numbers = session === undefined ? turnNumbers(workspace) : undefined;
  for (const word of words) {
    for (const turn of await findTurn(workspace, word.trim(), session))
      found.set(nameKey(turn), { ...turn, back: numbers?.get(turnKey(turn)) ?? null });
  }
  return [...found.values()];
}

export function nameKey({ agent, session, turn, subagent }: TurnName): string {
  return [agent, session, turn, subagent ?? ""].join("\0");
}

async function findTurn(workspace: Workspace, word: string, session?: string): Promise<FoundTurn[]> {
  const step = stepMeant(workspace, word, session);
  if (step.worktree !== workspace.worktree) {
    throw new RestoreError("refused", { kind: "other-work-tree", step: step.id, worktree: step.worktree });
  }
  if (!isTurnStep(step) || step.agent === null || step.session === null) {
    throw new RestoreError("usage", { kind: "not-in-turn", step: step.id });
  }
  const steps = stepsOfTurn(workspace, step);
  return step.kind === "task" && step.subagent ? subtree(workspace, steps, step) : [wholeTurn(workspace, steps, step)];
}

function stepMeant(workspace: Workspace, word: string, session?: string): Step {
  if (isZero(word)) throw countedFromOne(word);
  const count = turnCount(word);
  const turn = count === null ? undefined : turnAt(workspace, count, session);
  const [newest] = turn && "steps" in turn ? turn.steps : [];
  if (newest && isMarkedCount(word)) return newest;
  const found = (looksLikeStepId(word) ? stepsIn(workspace).byId(word) : undefined) ?? ofSubagent(workspace, word);
  if (newest && found) throw twoMeanings(word, found);
  if (newest) return newest;
  if (found) return found;
  if (count !== null && turn && "available" in turn) throw noSuchTurn(count, turn.available, session);
  throw new RestoreError("not-found", { kind: "turn-unknown", text: word });
}

function twoMeanings(word: string, { id }: Step): RestoreError {
  return new RestoreError("usage", {
    kind: "target-ambiguous",
    text: word,
    meanings: [
      { kind: "turn", count: Number(word) },
      { kind: "subagent", id: word, step: id },
    ],
  });
}

function noSuchTurn(count: number, available: number, session: string | undefined): RestoreError {
  return new RestoreError("not-found", {
    kind: "turn-count-too-high",
    count,
    available,
    inSession: session !== undefined,
  });
}

function ofSubagent(workspace: Workspace, id: string): Step | undefined {
  if (id === "") return undefined;
  const { worktree } = workspace;
  return stepsIn(workspace)
    .newestFirst({ worktree })
    .find(({ subagent }) => subagent?.id === id);
}

/** The turn's steps, newest first, and the last step before it. */
function stepsOfTurn(workspace: Workspace, one: Step): { own: Step[]; before: Step | null } {
  const own: Step[] = [];
  let before: Step | null = null;
  const { agent, session } = one;
  for (const step of stepsIn(workspace).newestFirst({ worktree: workspace.worktree, agent, session })) {
    if (isTurnStep(step) && step.turn === one.turn) {
      own.push(step);
      before = null;
    } else before ??= step;
    if (own.length > 0 && step.turn < one.turn) break;
  }
  return { own, before };
}

function wholeTurn(workspace: Workspace, { own, before }: ReturnType<typeof stepsOfTurn>, one: Step): FoundTurn {
  const last = own.find(({ kind }) => kind === "turn-end");
  if (!last) throw notEnded(workspace, one);
  const first = own.findLast(({ kind }) => kind === "turn-start") ?? before;
  const tasks = own.filter(({ subagent }) => subagent?.when === "end").map(({ id }) => id);
  return { ...named(one, null, first, last), tasks };
}

/** A subagent and the subagents it started. */
async function subtree(
  workspace: Workspace,
  { own, before }: ReturnType<typeof stepsOfTurn>,
  one: Step,
): Promise<FoundTurn[]> {
  const start = own.findLast(({ kind }) => kind === "turn-start") ?? before;
  const ofTask = (id: string) => own.filter((step) => step.subagent?.id === id);
  const taken = new Map<string, FoundTurn>();
  const waiting = [one.subagent?.id ?? ""];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (taken.has(id)) continue;
    const last = ofTask(id).find((step) => step.subagent?.when === "end");
    if (!last) throw notEnded(workspace, one);
    const first = ofTask(id).findLast((step) => step.subagent?.when === "start") ?? start;
    taken.set(id, named(one, id, first, last));
    const said = await conversationOf(workspace, last);
    for (const { subagent, toolUseId } of own) {
      if (subagent && toolUseId !== null && toolUseId !== last.toolUseId && said.includes(toolUseId))
        waiting.push(subagent.id);
    }
  }
  return [...taken.values()];
}

async function conversationOf(workspace: Workspace, { agent, session, id }: Step): Promise<Buffer> {
  if (agent === null || session === null) return Buffer.alloc(0);
  return readTranscript(workspace, sessionKey(agent, session), 0, Number.MAX_SAFE_INTEGER, `tasks/${id}`);
}

function named({ agent, session, turn }: Step, subagent: string | null, first: Step | null, last: Step): FoundTurn {
  return {
    agent: agent ?? "",
    session: session ?? "",
    turn,
    subagent,
    first,
    last,
    prompt: last.prompt ?? first?.prompt ?? null,
    files: changedPaths(last.files),
    tasks: subagent === null ? [] : [last.id],
    back: null,
  };
}

export function notEnded(workspace: Workspace, step: Step): RestoreError {
  const { agent, session, prompt } = step;
  const { own } = stepsOfTurn(workspace, step);
  const { id } = own.findLast(({ kind }) => kind === "turn-start") ?? step;
  const open = loadSession(workspace, sessionKey(agent ?? "", session ?? ""))?.openTurn;
  return open
    ? new RestoreError("refused", { kind: "turn-running", agent: agent ?? "", prompt, start: id })
    : new RestoreError("not-found", { kind: "turn-end-missing", prompt, start: id });
}
