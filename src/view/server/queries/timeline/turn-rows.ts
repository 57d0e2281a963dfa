/** Turns, subagents and operations as rows of the timeline. */
import { oneLine, shorten } from "../../../../base/text.ts";
import type { FileChanges } from "../../../../model/changes.ts";
import { changedPaths } from "../../../../model/changes.ts";
import type { Step } from "../../../../model/step.ts";
import { groupTurns, tasksOf, turnKey } from "../../../../model/turn.ts";
import { readRestores } from "../../../../restore/apply/restore-log.ts";
import { readCheckResults } from "../../../../restore/targets/check-results.ts";
import { type Cost, estimatedCost } from "../../../../transcripts/prices.ts";
import type { Check, Fate, FileCounts, OperationRow, SubagentRow, TurnRow } from "../../../protocol.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Redaction } from "../../repository/redaction.ts";
import type { StepGroup, TurnIndex } from "../../repository/turn-index.ts";

const LENGTHS = { prompt: 500, answer: 200 } as const;
const SHOWN_PATHS = 5;

/** Everything that rows need besides their own steps. */
export interface RowFacts {
  repository: OpenRepository;
  turns: TurnIndex;
  redaction: Redaction;
  checkOf(step: Step): Check | null;
}

export function rowFacts(repository: OpenRepository, turns: TurnIndex, redaction: Redaction): RowFacts {
  const checks = readCheckResults(repository.workspace);
  return {
    repository,
    turns,
    redaction,
    checkOf: (step) => checks.of(step) ?? null,
  };
}

/** Null for steps without an agent, which belong to no turn. */
export function turnRow(group: StepGroup, branch: string, facts: RowFacts): TurnRow | null {
  const { steps } = group;
  const end = steps.find(({ kind }) => kind === "turn-end");
  const start = steps.findLast(({ kind }) => kind === "turn-start");
  const head = end ?? steps[0];
  if (head.agent === null || head.session === null) return null;
  const statuses = facts.turns.statuses();
  const prompt = [end, ...steps].find((step) => step?.prompt)?.prompt ?? null;
  const files = end?.files ?? NO_FILES;
  const { redaction } = facts;
  return {
    kind: "turn",
    id: head.id,
    key: (start ?? steps.at(-1) ?? head).id,
    branch,
    agent: head.agent,
    session: head.session,
    number: head.turn,
    prompt: prompt === null ? null : shorten(redaction.text(prompt), LENGTHS.prompt),
    startedAt: start?.time ?? null,
    endedAt: end?.time ?? null,
    open: !end,
    interrupted: end?.interrupted ?? false,
    fate: fateOf(statuses.of(head)),
    files: countsOf(files),
    paths: changedPaths(files).slice(0, SHOWN_PATHS),
    lines: end ? (facts.repository.lineCounts.get(end.id) ?? null) : null,
    model: head.model,
    tokens: end?.tokens ?? null,
    cost: end ? costOf(end) : null,
    check: end ? facts.checkOf(end) : null,
    ...(brokeCheck(group, facts) ? { broke: true as const } : {}),
    commit: null,
    answer: end?.response ? shorten(oneLine(redaction.text(end.response)), LENGTHS.answer) : null,
    forks: statuses.forks(steps).map(({ id, name }) => ({ id, name })),
    subagents: subagentsOf(steps, facts),
    changedBefore: start ? statuses.changedBefore(start) : false,
    worktree: head.worktree,
  };
}

/** The check passed on the files before the turn and failed on those after it. */
export function brokeCheck({ steps }: StepGroup, { checkOf }: Pick<RowFacts, "checkOf">): boolean {
  const end = steps.find(({ kind }) => kind === "turn-end");
  const start = steps.findLast(({ kind }) => kind === "turn-start");
  return end !== undefined && start !== undefined && checkOf(end) === "fail" && checkOf(start) === "pass";
}

const NO_FILES: FileChanges = { added: [], modified: [], deleted: [] };

function subagentsOf(steps: readonly Step[], { turns, redaction }: RowFacts): SubagentRow[] {
  const [turn] = groupTurns(steps);
  if (!turn) return [];
  const statuses = turns.statuses();
  return tasksOf(turn).map((step) => {
    const ended = step.subagent?.when === "end";
    const start = steps.findLast(({ subagent }) => subagent?.id === step.subagent?.id && subagent?.when === "start");
    const description = step.subagent?.description ?? null;
    return {
      id: step.id,
      type: step.subagent?.type ?? null,
      description: description === null ? null : shorten(oneLine(redaction.text(description)), LENGTHS.answer),
      ended,
      fate: fateOf(statuses.of(step)),
      files: countsOf(step.files),
      tokens: step.tokens,
      cost: costOf(step),
      startedAt: start?.time ?? null,
      endedAt: ended ? step.time : null,
    };
  });
}

export function fateOf(status: "undone" | "rewound" | null): Fate {
  return status ?? "kept";
}

function countsOf({ added, modified, deleted }: FileChanges): FileCounts {
  return { added: added.length, modified: modified.length, deleted: deleted.length };
}

export function costOf({ agent, model, tokens, time, usd }: Step): Cost | null {
  return tokens && estimatedCost([{ agent, model, tokens, time, usd }]);
}

/** The restores by their safety steps. Rows are made for those that a page shows, because each looks up its turns. */
export function restoreRows(
  repository: OpenRepository,
  turns: TurnIndex,
): Map<string, (redaction: Redaction) => OperationRow> {
  const records = readRestores(repository.workspace).filter(({ kind }) => kind !== "fork");
  const reversed = new Map(records.map(({ id, takesBack }) => [takesBack, id]));
  const turnsOf = (id: string | null): string[] => {
    const target = records.find((record) => record.id === id)?.target;
    return target && "turns" in target ? target.turns.flatMap((turn) => idOfTurn(turn, turns)) : [];
  };
  const promptOf = (ids: readonly string[]): string | null =>
    turns.of(ids[0] ?? "")?.steps.find(({ prompt }) => prompt)?.prompt ?? null;
  return new Map(
    records.map(({ id, kind, time, target, takesBack, safetyStep }) => [
      safetyStep,
      (redaction) => {
        const prompt = promptOf(turnsOf(kind === "redo" ? takesBack : id));
        return {
          id,
          operation: kind as OperationRow["operation"],
          time,
          target: "step" in target ? target.step : null,
          turns: turnsOf(id),
          prompt: prompt === null ? null : shorten(redaction.text(oneLine(prompt)), LENGTHS.prompt),
          safetyStep,
          reverses: takesBack,
          reversedBy: reversed.get(id) ?? null,
        };
      },
    ]),
  );
}

function idOfTurn(turn: { agent: string; session: string; turn: number }, turns: TurnIndex): string[] {
  const group = turns.ofTurn(turnKey(turn));
  const head = group?.steps.find(({ kind }) => kind === "turn-end") ?? group?.steps[0];
  return head ? [head.id] : [];
}
