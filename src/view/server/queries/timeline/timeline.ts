/** The timeline: turns, saved states and operations, newest first, one page at a time. */
import { UserError } from "../../../../base/errors.ts";
import { pathMatcher } from "../../../../base/fs/glob.ts";
import type { Step } from "../../../../model/step.ts";
import { listForks } from "../../../../steps/forks.ts";
import { isEmptyQuery, matchesTurn, type TurnQuery } from "../../../../steps/query/matches.ts";
import type {
  Branch,
  Check,
  Fate,
  LineCounts,
  OperationRow,
  Timeline,
  TimelineItem,
  TimelineQuery,
} from "../../../protocol.ts";
import { countLines } from "../../repository/line-counts.ts";
import type { StepGroup, TurnIndex } from "../../repository/turn-index.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";
import { brokeCheck, fateOf, type RowFacts, restoreRows, rowFacts, turnRow } from "./turn-rows.ts";

const USUAL_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_COUNTED = 200;
const CURRENT = "current";

export async function timeline({ repository }: Context, query: Query): Promise<Timeline> {
  const { turns, mark } = repository.indexWithMark();
  const facts = rowFacts(repository, turns, await repository.redaction(false));
  const operations = restoreRows(repository, turns);
  const branches = new Branches(facts, operations);
  const limit = query.number("limit", USUAL_LIMIT, MAX_LIMIT);
  const wanted = filterOf(query);
  const items: TimelineItem[] = [];
  const first = positionAfter(turns, query.text("before"));
  for (let position = 0; position < first; position++) branches.pass(turns.at(position));
  for (let position = first; ; position++) {
    const group = turns.at(position);
    if (!group) return { items, branches: branches.used(), next: null, revision: mark };
    branches.pass(group);
    const item = wanted(group, facts) ? itemOf(group, branches, operations, facts) : null;
    if (!item) continue;
    // One item more than asked for shows that there is another page.
    if (items.length === limit)
      return { items, branches: branches.used(), next: turns.at(position - 1)?.steps[0].id ?? null, revision: mark };
    items.push(item);
  }
}

/** The lines that turns added and deleted, counted by one process for all of them. */
export async function lines({ repository }: Context, query: Query): Promise<{ lines: Record<string, LineCounts> }> {
  const { turns } = repository.indexWithMark();
  const ids = query.list("turns").slice(0, MAX_COUNTED);
  const groups = ids.flatMap((id) => {
    const group = turns.of(id);
    const end = group?.steps.find(({ kind }) => kind === "turn-end");
    return group && end ? [{ id, end, before: stateBefore(group) }] : [];
  });
  const missing = groups.filter(({ end }) => !repository.lineCounts.has(end.id));
  const counted = await countLines(
    repository.workspace,
    missing.map(({ before, end }) => ({ before: before?.snapshot.work ?? null, after: end.snapshot.work })),
  );
  missing.forEach(({ end }, i) => {
    const count = counted[i];
    if (count) repository.lineCounts.set(end.id, count);
  });
  return { lines: Object.fromEntries(groups.flatMap(({ id, end }) => entry(id, repository.lineCounts.get(end.id)))) };
}

function entry(id: string, count: LineCounts | undefined): [string, LineCounts][] {
  return count ? [[id, count]] : [];
}

/** The state at the turn's start; null if its start was not recorded. */
export function stateBefore({ steps }: StepGroup): Step | null {
  return steps.findLast(({ kind }) => kind === "turn-start") ?? null;
}

function positionAfter(turns: TurnIndex, cursor: string | null): number {
  if (cursor === null) return 0;
  const group = turns.of(cursor);
  if (!group) throw new UserError("not-found", "This part of the timeline has expired.", "Reload the page.");
  return group.position + 1;
}

type Operations = ReturnType<typeof restoreRows>;

type Filter = (group: StepGroup, facts: RowFacts) => boolean;

function filterOf(query: Query): Filter {
  const path = query.text("path");
  const wanted: TurnQuery = {
    agents: new Set(query.list("agent")),
    text: query.text("text") || null,
    changes: path ? pathMatcher([path]) : null,
    since: query.time("since"),
    before: query.time("until"),
  };
  // Words of a path count as much as those of a prompt: the list shows both.
  const words = wanted.text?.toLowerCase();
  const byPath: TurnQuery | null =
    words === undefined
      ? null
      : {
          ...wanted,
          text: null,
          changes: (one) => one.toLowerCase().includes(words) && (wanted.changes?.(one) ?? true),
        };
  const session = query.text("session");
  const fate = query.text("fate") as Fate | null;
  const check = query.text("check") as TimelineQuery["check"] | null;
  const isFiltered = !isEmptyQuery(wanted) || session !== null || fate !== null || check !== null;
  return (group, facts) => {
    if (!isFiltered) return true;
    if (!group.isTurn) return false;
    if (!matchesTurn(wanted, group.steps) && !(byPath && matchesTurn(byPath, group.steps))) return false;
    const [head] = group.steps;
    if (session !== null && head.session !== session) return false;
    if (check !== null && !(check === "broke" ? brokeCheck(group, facts) : checkAfter(group, facts) === check))
      return false;
    return fate === null || fateOf(facts.turns.statuses().of(head)) === fate;
  };
}

function checkAfter({ steps }: StepGroup, { checkOf }: RowFacts): Check | null {
  const end = steps.find(({ kind }) => kind === "turn-end");
  return end ? checkOf(end) : null;
}

function itemOf(group: StepGroup, branches: Branches, operations: Operations, facts: RowFacts): TimelineItem | null {
  const [step] = group.steps;
  if (group.isTurn) return turnRow(group, branches.of(step), facts);
  const { id, time, name, agent, session, worktree } = step;
  if (step.kind === "manual") {
    const shown = name === null ? null : facts.redaction.text(name);
    return { kind: "saved", id, branch: branches.of(step), time, name: shown, agent, session, worktree };
  }
  const operation = operations.get(id)?.(facts.redaction);
  return operation ? { kind: "operation", branch: branches.of(step), ...operation } : null;
}

/** Finds the line of history that each item belongs to. Groups must pass newest first. */
class Branches {
  readonly #facts: RowFacts;
  readonly #operations: Operations;
  readonly #forks;
  readonly #used = new Map<string, Branch>();
  /** The oldest rewind that came after the groups passed so far. */
  #rewind: OperationRow | null = null;

  constructor(facts: RowFacts, operations: Operations) {
    this.#facts = facts;
    this.#operations = operations;
    this.#forks = new Map(listForks(facts.repository.workspace).map((fork) => [fork.worktree, fork]));
  }

  pass(group: StepGroup | undefined): void {
    const operation = this.#operations.get(group?.steps[0].id ?? "")?.(this.#facts.redaction);
    if (operation && operation.operation !== "undo" && operation.operation !== "take") this.#rewind = operation;
  }

  of(step: Step): string {
    const branch = this.#find(step);
    if (!this.#used.has(branch.id)) this.#used.set(branch.id, branch);
    return branch.id;
  }

  used(): Branch[] {
    return [...this.#used.values()];
  }

  #find(step: Step): Branch {
    const { turns, repository } = this.#facts;
    if (step.worktree !== repository.workspace.worktree) {
      const fork = this.#forks.get(step.worktree);
      const name = fork?.name ?? step.worktree;
      const kind = fork ? "fork" : "worktree";
      return { id: `${kind}:${step.worktree}`, kind, name, from: fork?.from.step ?? null, endedBy: null };
    }
    const rewind = turns.statuses().of(step) === "rewound" ? this.#rewind : null;
    if (rewind) return { id: rewind.id, kind: "rewound", name: null, from: rewind.target, endedBy: rewind.id };
    return { id: CURRENT, kind: "current", name: null, from: null, endedBy: null };
  }
}
