import { expect, test } from "bun:test";
import { makeStep } from "../../test/support/steps.ts";
import type { Step, StepKind } from "../model/step.ts";
import { turnsBehind } from "./owners.ts";
import { turnWindows } from "./turn-windows.ts";

/** `session` is an agent and a session id: two agents may use the same id. */
function step(session: string, kind: StepKind, turn: number, files: string[] = [], more: Partial<Step> = {}): Step {
  const [agent = "", id = ""] = session.split("/");
  return makeStep({ agent, session: id, kind, turn, files: { added: [], modified: files, deleted: [] }, ...more });
}

function task(session: string, turn: number, id: string, when: "start" | "end", files: string[] = []): Step {
  return step(session, "task", turn, files, { subagent: { id, type: null, description: null, when } });
}

const saved = step("/", "manual", 0, [], { agent: null, session: null });

const ranges = (steps: Step[], running?: Parameters<typeof turnWindows>[1]) =>
  turnWindows(steps, running).map(({ turn, subagent, earliest, from, to }) => [
    subagent ?? `${turn.agent}/${turn.session} ${turn.turn}`,
    earliest,
    from,
    to,
  ]);

const behind = (steps: Step[], at: number, path: string) =>
  turnsBehind(turnWindows(steps), at, path).map(({ turn }) => `${turn.agent}/${turn.session} ${turn.turn}`);

test("a subagent that outlives its turn does not reopen the turn", () => {
  const steps = [
    step("a/1", "turn-start", 1),
    task("a/1", 1, "late", "start"),
    step("a/1", "turn-end", 1),
    task("a/1", 1, "late", "end", ["x"]),
    saved,
  ];
  expect(ranges(steps)).toEqual([
    ["a/1 1", 0, 0, 2],
    ["late", 1, 1, 3],
  ]);
  expect(behind(steps, 2, "x")).toEqual(["a/1 1"]);
  // What the user changes afterwards is the user's.
  expect(behind(steps, 3, "x")).toEqual([]);
});

test("two agents may use the same session id", () => {
  const steps = [
    step("a/1", "turn-start", 1),
    step("b/1", "turn-start", 1),
    step("b/1", "turn-start", 2),
    step("b/1", "turn-end", 2, ["x"]),
    saved,
  ];
  expect(behind(steps, 2, "x")).toEqual(["b/1 2"]);
  expect(behind(steps, 2, "y")).toEqual(["a/1 1", "b/1 2"]);
  expect(behind(steps, 3, "y")).toEqual(["a/1 1"]);
});

test("before its first step, a turn without a recorded beginning owns what it reports", () => {
  const steps = [step("a/1", "turn-end", 1), saved, step("b/1", "turn-end", 1), step("a/1", "turn-end", 2, ["x"])];
  expect(ranges(steps)).toEqual([
    ["a/1 1", -1, -1, 0],
    ["b/1 1", -1, 1, 2],
    ["a/1 2", 0, 2, 3],
  ]);
  expect(behind(steps, 0, "x")).toEqual(["a/1 2"]);
  expect(behind(steps, 0, "y")).toEqual([]);
  expect(behind(steps, 1, "x")).toEqual(["a/1 2"]);
});

test("a turn with no end is over at its session's next turn, or at its last step if it is known not to run", () => {
  const steps = [step("a/1", "turn-start", 1), step("a/1", "tool", 1), saved, step("a/1", "turn-start", 2), saved];
  expect(ranges(steps)).toEqual([
    ["a/1 1", 0, 0, 3],
    ["a/1 2", 3, 3, Number.POSITIVE_INFINITY],
  ]);
  expect(ranges(steps, [])).toEqual([
    ["a/1 1", 0, 0, 3],
    ["a/1 2", 3, 3, 3],
  ]);
  const running = [{ turn: { agent: "a", session: "1", turn: 3 }, files: ["x"] }];
  expect(ranges(steps, running)).toEqual([
    ["a/1 1", 0, 0, 3],
    ["a/1 2", 3, 3, 3],
    ["a/1 3", 3, 4, Number.POSITIVE_INFINITY],
  ]);
});

test("a turn that continues after its end is running again", () => {
  const steps = [step("a/1", "turn-start", 1), step("a/1", "turn-end", 1), saved, step("a/1", "turn-end", 1, ["x"])];
  expect(ranges(steps)).toEqual([
    ["a/1 1", 0, 0, 1],
    ["a/1 1", 1, 2, 3],
  ]);
});
