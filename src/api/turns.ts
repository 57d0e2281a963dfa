/** Turns of the library: listing them, finding one, and their status. */
import type { Workspace } from "../git/workspace.ts";
import type { FileChanges } from "../model/changes.ts";
import type { Step } from "../model/step.ts";
import type { Tokens } from "../model/tokens.ts";
import { isTurnStep, newestTurns, TURN_KINDS } from "../model/turn.ts";
import { resolveTarget } from "../restore/targets/resolve.ts";
import { readTurnStatuses } from "../restore/targets/turn-status.ts";
import { type StepQuery, stepsIn } from "../steps/log.ts";
import { ApiError } from "./problems.ts";

export interface ListOptions {
  /** The maximum number, newest first; all by default. */
  limit?: number;
  /** Restricts the list to this session: its id or an id prefix. */
  session?: string;
  /** Includes the repository's other work trees. */
  allWorktrees?: boolean;
}

/** One prompt of a session, and everything that the agent did until it stopped. */
export interface Turn {
  /** The id of the step that represents the turn: `getTurn`, `planRewind` and `planUndo` accept it. */
  id: string;
  agent: string;
  session: string;
  /** 1 for the session's first prompt. */
  number: number;
  prompt: string | null;
  /** ISO times; null if the start or the end was not recorded. */
  startedAt: string | null;
  endedAt: string | null;
  /** Whether the turn's changes are still in the files: kept, undone by `undo`, or reverted by a rewind. */
  status: "kept" | "undone" | "rewound";
  /** The files that the turn changed, including changes by shell commands; empty until the turn ends. */
  files: FileChanges;
  model: string | null;
  tokens: Tokens | null;
  /** The agent's last answer, shortened. */
  response: string | null;
  /** All steps of the turn, newest first. */
  steps: Step[];
}

/**
 * Lists recorded steps, newest first. A step is the state of the work tree and the conversation at one moment: a
 * turn's start or end, a command that could destroy work, a `save`, the safety step before a restore.
 *
 * @example
 * const [newest] = listSteps(workspace, { limit: 1 });
 */
export function listSteps(workspace: Workspace, options: ListOptions = {}): Step[] {
  return stepsIn(workspace).list({ ...queryFor(workspace, options), limit: options.limit });
}

/**
 * Lists turns, newest first, each with its steps. Omits steps that belong to no turn; `listSteps` returns those.
 *
 * @example
 * for (const turn of listTurns(workspace, { limit: 10 })) console.log(turn.id, turn.prompt, turn.files.modified);
 */
export function listTurns(workspace: Workspace, options: ListOptions = {}): Turn[] {
  // The safety steps between turns show which turns a rewind reverted.
  const passed: Step[] = [];
  const { turns } = newestTurns(
    turnSteps(stepsIn(workspace).newestFirst(queryFor(workspace, options)), passed),
    options.limit ?? Number.POSITIVE_INFINITY,
  );
  return turnsOf(
    workspace,
    turns.map(({ steps }) => steps),
    passed,
  );
}

function* turnSteps(steps: Iterable<Step>, passed: Step[]): Generator<Step> {
  for (const step of steps) {
    passed.push(step);
    if (isTurnStep(step)) yield step;
  }
}

/**
 * Finds one turn by any target that `backtrail rewind` accepts: a step's id or an id prefix, `last`, `prev`, a number
 * of turns back. Throws a `UserError` if there is none, or if the target is not part of a turn.
 *
 * @example
 * const turn = await getTurn(workspace, "last");
 */
export async function getTurn(workspace: Workspace, target: string): Promise<Turn> {
  const found = await resolveTarget(workspace, target);
  const step = found.kind === "step" ? found.step : undefined;
  if (step && isTurnStep(step)) {
    const { agent, session, turn: number } = step;
    const steps: Step[] = [];
    for (const one of stepsIn(workspace).newestFirst({ agent, session, turn: number, kinds: TURN_KINDS })) {
      steps.push(one);
      if (one.kind === "turn-start") break;
    }
    const [turn] = turnsOf(workspace, [steps], steps);
    if (turn) return turn;
  }
  throw new ApiError("not-found", { kind: "target-not-in-turn", target });
}

function queryFor(workspace: Workspace, { session, allWorktrees }: ListOptions): StepQuery {
  return {
    worktree: allWorktrees ? undefined : workspace.worktree,
    session: session === undefined ? undefined : stepsIn(workspace).sessionId(session),
  };
}

/** `read` holds the steps of all groups, newest first. */
function turnsOf(workspace: Workspace, groups: readonly Step[][], read: readonly Step[]): Turn[] {
  const statuses = readTurnStatuses(workspace, read);
  return groups.flatMap((steps) => {
    const end = steps.find(({ kind }) => kind === "turn-end");
    const start = steps.findLast(({ kind }) => kind === "turn-start");
    const head = end ?? steps[0];
    if (!head || head.agent === null || head.session === null) return [];
    return {
      id: head.id,
      agent: head.agent,
      session: head.session,
      number: head.turn,
      prompt: [end, ...steps].find((step) => step?.prompt)?.prompt ?? null,
      startedAt: start?.time ?? null,
      endedAt: end?.time ?? null,
      status: statuses.of(head) ?? "kept",
      files: end?.files ?? { added: [], modified: [], deleted: [] },
      model: head.model,
      tokens: end?.tokens ?? null,
      response: end?.response ?? null,
      steps,
    };
  });
}
