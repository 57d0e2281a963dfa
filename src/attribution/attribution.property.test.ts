/**
 * Random histories: sessions of two agents at once (two of them with the same id), their subagents, the user, turns
 * without a recorded beginning or end. All answers follow from one rule, so they never contradict each other.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/own-process.ts";
import { makeStep } from "../../test/support/steps.ts";
import { sessionRefKey } from "../model/session.ts";
import type { Step } from "../model/step.ts";
import { turnOfStep } from "../model/turn.ts";
import { filesOfRunning, ownFiles, partsOf } from "./files.ts";
import { owners, subagentsBehind, turnsBehind } from "./owners.ts";
import { isAtWork, mayBeAtWork, type RunningTurn, turnWindows } from "./turn-windows.ts";

const SESSIONS = [
  { agent: "claude-code", session: "one" },
  { agent: "codex", session: "one" },
  { agent: "codex", session: "two" },
] as const;
const FILES = ["a", "b", "c"];

type Act =
  | { do: "begin" | "end" | "tool" | "lose"; who: number; files: string[] }
  | { do: "task" | "task-end"; who: number; task: number; files: string[] }
  | { do: "save"; files: string[] };

const files = fc.subarray(FILES);
const who = fc.nat(SESSIONS.length - 1);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("begin" as const, "end" as const), who, files }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("tool" as const, "lose" as const), who, files }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("task" as const, "task-end" as const), who, task: fc.nat(1), files }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("save" as const), files }) },
);
const history = fc.record({ acts: fc.array(act, { maxLength: 24 }), recordsStarts: fc.boolean() });

interface History {
  steps: Step[];
  running: RunningTurn[];
  /** By position: the sessions whose turn was open between a step and the next one. */
  open: Set<string>[];
}

/** `recordsStarts` false stands for the tier `minimal`, which takes no step at a turn's beginning. */
function play({ acts, recordsStarts }: { acts: Act[]; recordsStarts: boolean }): History {
  const steps: Step[] = [];
  const open: Set<string>[] = [];
  const turns = SESSIONS.map(() => ({ turn: 0, open: false, tasks: new Set<number>() }));
  const isOpen = () => new Set(SESSIONS.filter((_, i) => turns[i]?.open).map(sessionRefKey));
  const add = (parts: Partial<Step>, changed: readonly string[]) => {
    steps.push(
      makeStep({ ...parts, id: `s${steps.length}`, files: { added: [], modified: [...changed], deleted: [] } }),
    );
    open.push(isOpen());
  };
  for (const one of acts) {
    if (one.do === "save") {
      add({ kind: "manual", agent: null, session: null, turn: 0 }, one.files);
      continue;
    }
    const state = turns[one.who];
    const session = SESSIONS[one.who];
    if (!state || !session) continue;
    const at = { ...session, turn: state.turn };
    const subagent = (id: number, when: "start" | "end") => ({ id: `task-${id}`, type: null, description: null, when });
    if (one.do === "begin" && !state.open) {
      state.turn++;
      state.open = true;
      if (recordsStarts) add({ ...at, kind: "turn-start", turn: state.turn }, []);
    } else if (one.do === "end" && state.open) {
      state.open = false;
      add({ ...at, kind: "turn-end" }, one.files);
    } else if (one.do === "tool" && state.open) add({ ...at, kind: "tool" }, one.files);
    else if (one.do === "lose") {
      // Nobody saw how long it ran after its last step.
      state.open = false;
      const last = steps.findLastIndex((step) => step.agent === session.agent && step.session === session.session);
      for (const sessions of open.slice(Math.max(0, last))) sessions.delete(sessionRefKey(session));
    } else if (one.do === "task" && state.open && !state.tasks.has(one.task)) {
      state.tasks.add(one.task);
      add({ ...at, kind: "task", subagent: subagent(one.task, "start") }, []);
    } else if (one.do === "task-end" && state.tasks.delete(one.task) && at.turn > 0)
      add({ ...at, kind: "task", subagent: subagent(one.task, "end") }, one.files);
  }
  const running = SESSIONS.flatMap((session, i) =>
    turns[i]?.open ? [{ turn: { ...session, turn: turns[i].turn }, files: ["a"] }] : [],
  );
  return { steps, running, open };
}

const positions = (steps: readonly Step[]) => steps.map((_, at) => at);

test("a turn runs from its recorded start to its end, and two turns of one session never overlap", () => {
  fc.assert(
    fc.property(history, (random) => {
      const { steps, running, open } = play(random);
      const windows = turnWindows(steps, running);
      for (const at of positions(steps)) {
        const atWork = windows.filter((window) => window.subagent === null && isAtWork(window, at));
        const sessions = atWork.map(({ turn }) => sessionRefKey(turn));
        expect(new Set(sessions).size).toBe(sessions.length);
        // Without recorded beginnings, a turn is known to be at work only shortly before its first step.
        const known = open[at] ?? new Set();
        if (random.recordsStarts) for (const session of known) expect(sessions).toContain(session);
        const possible = windows.filter((window) => mayBeAtWork(window, at)).map(({ turn }) => sessionRefKey(turn));
        for (const session of known) expect(possible).toContain(session);
      }
      for (const { turn, subagent, from, earliest, to, last } of windows) {
        expect(earliest).toBeLessThanOrEqual(from);
        expect(from).toBeLessThanOrEqual(to);
        if (last && subagent === null) expect(turnOfStep(last)).toEqual(turn);
      }
    }),
    runs(300),
  );
});

test("a file's owners were running, and are the turns that report it if any turn does", () => {
  fc.assert(
    fc.property(history, fc.boolean(), (random, isKnown) => {
      const { steps, running } = play(random);
      const windows = turnWindows(steps, isKnown ? running : undefined);
      for (const at of positions(steps)) {
        const atWork = new Set(windows.filter((window) => isAtWork(window, at)).map(({ turn }) => sessionRefKey(turn)));
        for (const path of FILES) {
          const reporting = new Set(
            windows
              .filter((window) => mayBeAtWork(window, at) && window.files.has(path))
              .map(({ turn }) => sessionRefKey(turn)),
          );
          const found = turnsBehind(windows, at, path).map(({ turn }) => sessionRefKey(turn));
          const expected = atWork.size < 2 && reporting.size === 0 ? atWork : reporting.size > 0 ? reporting : atWork;
          // One turn alone owns every change; a turn that may have been at work owns what it reports.
          const all = new Set([...atWork, ...reporting]);
          expect(new Set(found)).toEqual(all.size < 2 ? all : expected);
          for (const task of subagentsBehind(windows, at, found[0] ?? "", [path])) expect(task.files).toContain(path);
        }
      }
    }),
    runs(300),
  );
});

test("recording, commits and undo give the same answer as blame and bisect", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(files, files), { minLength: 1, maxLength: 3 }), async (turns) => {
      const all = turns.map(([changed, reported], i) => ({ i, changed, reported: new Set(reported) }));
      // The same turns as a history: all at work between the same two steps.
      const starts = all.map(({ i }) => makeStep({ kind: "turn-start", session: `s${i}`, id: `b${i}` }));
      const ends = all.map(({ i, reported }) =>
        makeStep({ session: `s${i}`, id: `e${i}`, files: { added: [], modified: [...reported], deleted: [] } }),
      );
      const windows = turnWindows([...starts, ...ends]);
      const at = starts.length - 1;
      const inCommit = filesOfRunning(all, []);
      for (const path of FILES) {
        const behind = new Set(turnsBehind(windows, at, path).map(({ turn }) => turn.session));
        for (const turn of all) {
          const others = all.filter((other) => other !== turn).map(({ reported }) => reported);
          const recorded = ownFiles({ added: [path], modified: [], deleted: [] }, turn.reported, others).added;
          expect(recorded.length === 1).toBe(behind.has(`s${turn.i}`));
          if (turn.changed.includes(path)) expect(inCommit.get(turn)?.includes(path)).toBe(behind.has(`s${turn.i}`));
          if (!turn.reported.has(path)) continue;
          const concurrent = windows.filter((window) => window.turn.session !== `s${turn.i}`);
          const parts = await partsOf({ from: at, to: at + 1 }, concurrent, path, async () => true);
          // Undo never guesses between two turns that report the same file.
          expect(parts.every(({ rival }) => rival === null)).toBe(behind.size === 1);
        }
      }
    }),
    runs(200),
  );
});

test("the committing turn owns changes that no turn reports", () => {
  const quiet = { changed: ["a", "b"], reported: new Set<string>() };
  const writing = { changed: ["a", "b"], reported: new Set(["b"]) };
  expect(filesOfRunning([quiet, writing], [quiet]).get(quiet)).toEqual(["a"]);
  expect(filesOfRunning([quiet, writing], [quiet]).get(writing)).toEqual(["b"]);
  expect(filesOfRunning([quiet, writing], []).get(writing)).toEqual(["a", "b"]);
  expect(owners([quiet], () => false, [])).toEqual([quiet]);
});
