import { expect, test } from "bun:test";
import type { Step, StepKind } from "../../model/step.ts";
import type { HistoryItem } from "../targets/history.ts";
import { gapsBetween, groupTurns, passedTurns, turnsToPlan } from "./turns.ts";

const none = { added: [], modified: [], deleted: [] };

function step(id: string, kind: StepKind, session: string | null, turn: number): HistoryItem {
  const made: Partial<Step> = { id, kind, session, turn, agent: session && "codex", prompt: `${id}?`, files: none };
  return { kind: "step", step: made as Step };
}

function undo(id: string, session: string, turn: number, stands = true): HistoryItem {
  const turns = [{ agent: "codex", session, turn, subagent: null }];
  const record = { id, kind: "undo", target: { turns, changes: [], markers: false } };
  return { kind: "restore", record, safety: { id: `safety-${id}` }, stands } as unknown as HistoryItem;
}

function seen(history: readonly HistoryItem[], running: readonly string[] = []) {
  const turns = passedTurns(history, ({ session }) => running.includes(session ?? ""));
  return {
    turns: turns.map(({ session, turn, id, from, to }) => `${session}${turn} ${id} ${from}-${to}`),
    partial: turns.filter(({ partial }) => partial).map(({ session, turn }) => `${session}${turn}`),
    gaps: gapsBetween(history, turns),
  };
}

test("turns after the target, and the gaps between them", () => {
  const history = [
    step("s1", "turn-start", "a", 1),
    step("t1", "tool", "a", 1),
    step("e1", "turn-end", "a", 1),
    step("m", "manual", null, 0),
    step("s2", "turn-start", "a", 2),
    step("e2", "turn-end", "a", 2),
  ];
  expect(seen(history)).toEqual({ turns: ["a1 e1 0-2", "a2 e2 4-5"], partial: [], gaps: [2, 3, 5] });
  // The end of turn 1 as the target.
  expect(seen(history.slice(2))).toEqual({ turns: ["a2 e2 2-3"], partial: [], gaps: [0, 1, 3] });
  // The middle of turn 1 as the target.
  expect(seen(history.slice(1, 3))).toEqual({ turns: ["a1 e1 0-1"], partial: ["a1"], gaps: [1] });
});

test("a turn of another session that began before the target goes back in part", () => {
  const history = [step("s1", "turn-start", "a", 1), step("e1", "turn-end", "a", 1), step("e5", "turn-end", "b", 5)];
  expect(seen(history)).toEqual({ turns: ["a1 e1 0-1", "b5 e5 0-2"], partial: ["b5"], gaps: [2] });
});

test("without a step at its start, a turn has everything since the last step of its session", () => {
  const history = [step("e1", "turn-end", "a", 1), step("m", "manual", null, 0), step("e2", "turn-end", "a", 2)];
  expect(seen(history)).toEqual({ turns: ["a2 e2 0-2"], partial: [], gaps: [2] });
});

test("a running turn lasts until now; a turn whose end was rewound ends at its last step", () => {
  const history = [step("s1", "turn-start", "a", 1), step("t1", "tool", "a", 1)];
  expect(seen(history, ["a"])).toEqual({ turns: ["a1 t1 0-2"], partial: [], gaps: [] });
  expect(seen(history)).toEqual({ turns: ["a1 t1 0-1"], partial: [], gaps: [1] });
});

test("an undone turn is not reverted again, unless its undo was undone", () => {
  const turn = [step("s1", "turn-start", "a", 1), step("e1", "turn-end", "a", 1)];
  const planned = (stands: boolean) => {
    const turns = passedTurns([...turn, undo("u", "a", 1, stands)], () => false);
    expect(gapsBetween([...turn, undo("u", "a", 1, stands)], turns)).toEqual([1, 2]);
    return turnsToPlan(turns).map(({ id }) => id);
  };
  expect([planned(true), planned(false)]).toEqual([[], ["e1"]]);
});

test("for a plan: the newest first, and the turns of one session together", () => {
  const history = [
    step("s1", "turn-start", "a", 1),
    step("e1", "turn-end", "a", 1),
    step("s2", "turn-start", "b", 1),
    step("e2", "turn-end", "b", 1),
    step("s3", "turn-start", "a", 2),
    step("e3", "turn-end", "a", 2),
  ];
  const turns = turnsToPlan(passedTurns(history, () => false));
  expect(turns.map(({ id }) => id)).toEqual(["e3", "e2", "e1"]);
  expect(turns[0]).toEqual({
    agent: "codex",
    session: "a",
    turn: 2,
    subagent: null,
    id: "e3",
    prompt: "s3?",
    partial: false,
    running: false,
  });
  expect(groupTurns(turns).map((group) => group.map(({ id }) => id))).toEqual([["e3", "e1"], ["e2"]]);
});
