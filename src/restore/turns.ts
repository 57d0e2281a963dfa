/** Which turns, or subagents of a turn, a person means to take back, and the steps between which their work lies. */
import { UserError } from "../base/errors.ts";
import { looksLikeStepId, sessionKey } from "../base/ids.ts";
import { oneLine, plural, shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession } from "../lifecycle/session-state.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { findStep } from "../steps/list.ts";
import type { Step } from "../steps/model.ts";
import { readTranscript } from "../steps/transcript.ts";
import { isOfTurn, turnKeyOf, wayHere } from "./timeline.ts";

/** A turn, or the work of one of its subagents. */
export interface TurnName {
  agent: string;
  session: string;
  turn: number;
  /** The subagent's own id; null for the whole turn. */
  subagent: string | null;
}

export interface FoundTurn extends TurnName {
  /** Where it began; null where nothing was recorded before it. */
  first: Step | null;
  /** Where it ended. */
  last: Step;
  prompt: string | null;
  /** What it changed itself. */
  files: string[];
  /** Steps at which its subagents ended. */
  tasks: string[];
}

/** In the order given, each once. With a session, numbers count its turns alone. */
export async function findTurns(
  workspace: Workspace,
  words: readonly string[],
  session?: string,
): Promise<FoundTurn[]> {
  const found = new Map<string, FoundTurn>();
  for (const word of words) {
    for (const turn of await findTurn(workspace, word.trim(), session)) found.set(nameKey(turn), turn);
  }
  return [...found.values()];
}

export function nameKey({ agent, session, turn, subagent }: TurnName): string {
  return [agent, session, turn, subagent ?? ""].join("\0");
}

async function findTurn(workspace: Workspace, word: string, session?: string): Promise<FoundTurn[]> {
  const step = stepMeant(workspace, word, session);
  if (step.worktree !== workspace.worktree) {
    throw new UserError(
      "refused",
      `Step ${step.id} belongs to another work tree (${shorten(oneLine(step.worktree), 60)}).`,
      "Undo it there: the files that it changed are not these.",
    );
  }
  if (!isOfTurn(step) || step.agent === null || step.session === null) {
    throw new UserError(
      "usage",
      `Step ${step.id} is no part of a turn.`,
      "`backtrail undo` takes back what an agent did in a turn; `backtrail rewind` goes to a step.",
    );
  }
  const steps = stepsOfTurn(workspace, step);
  return step.kind === "task" && step.subagent ? subtree(workspace, steps, step) : [wholeTurn(workspace, steps, step)];
}

function stepMeant(workspace: Workspace, word: string, session?: string): Step {
  if (isCount(word)) return turnBack(workspace, Number(word), session);
  const step = looksLikeStepId(word) ? findStep(workspace, word) : undefined;
  const found = step ?? ofSubagent(workspace, word);
  if (found) return found;
  throw new UserError(
    "not-found",
    `There is no turn, step, subagent or session "${shorten(oneLine(word), 60)}".`,
    "`backtrail log` shows the turns; give a step's id, `last`, or how many turns back it is.",
  );
}

export function isCount(word: string): boolean {
  return /^\d{1,5}$/.test(word);
}

/** Only that one turn: 1 is the newest. */
function turnBack(workspace: Workspace, count: number, session?: string): Step {
  const seen = new Set<string>();
  for (const step of wayHere(workspace)) {
    if (!isOfTurn(step) || (session !== undefined && step.session !== session)) continue;
    seen.add(turnKeyOf(step));
    if (count > 0 && seen.size === count) return step;
  }
  throw new UserError(
    "not-found",
    seen.size === 0
      ? `No turn ${session === undefined ? "is recorded here" : "of that session led here"}.`
      : `There is no turn ${count} back: ${plural(seen.size, "turn")}${session === undefined ? "" : " of that session"} led here.`,
    "`backtrail log` shows them.",
  );
}

function ofSubagent(workspace: Workspace, id: string): Step | undefined {
  if (id === "") return undefined;
  for (const step of stepsNewestFirst(workspace)) {
    if (step.subagent?.id === id && step.worktree === workspace.worktree) return step;
  }
  return undefined;
}

/** Newest first, with everything recorded before them that may be where the turn began. */
function stepsOfTurn(workspace: Workspace, one: Step): { own: Step[]; before: Step | null } {
  const own: Step[] = [];
  let before: Step | null = null;
  for (const step of stepsNewestFirst(workspace)) {
    if (step.worktree !== workspace.worktree || step.session !== one.session || step.agent !== one.agent) continue;
    if (isOfTurn(step) && step.turn === one.turn) {
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

/** A subagent, and those that it started itself. */
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
  const { added, modified, deleted } = last.files;
  return {
    agent: agent ?? "",
    session: session ?? "",
    turn,
    subagent,
    first,
    last,
    prompt: last.prompt ?? first?.prompt ?? null,
    files: [...added, ...modified, ...deleted],
    tasks: subagent === null ? [] : [last.id],
  };
}

function notEnded(workspace: Workspace, { agent, session, turn }: Step): UserError {
  const open = loadSession(workspace, sessionKey(agent ?? "", session ?? ""))?.openTurn;
  return open
    ? new UserError(
        "refused",
        `Turn ${turn} of ${oneLine(agent ?? "")} is still under way.`,
        "Let it finish or interrupt it, then undo it.",
      )
    : new UserError("not-found", `Where turn ${turn} ended is not recorded.`, "`backtrail rewind` goes to before it.");
}
