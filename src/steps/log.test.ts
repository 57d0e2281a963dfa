import { expect, test } from "bun:test";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { refusal } from "../../test/support/refusal.ts";
import { makeStep } from "../../test/support/steps.ts";
import type { Step } from "../model/step.ts";
import { appendStep } from "./index-file.ts";
import { type StepQuery, stepsIn } from "./log.ts";

ownHome();

const TRANSCRIPT = { path: "/t.jsonl", offset: 1, lastId: null, generation: 0 };

/** Oldest first. The minutes of the times are the positions in this list. */
const STEPS: Partial<Step>[] = [
  { id: "kkkk", kind: "manual", session: null, agent: null, turn: 0, name: "one" },
  { id: "llll", kind: "turn-start", session: "s1" },
  { id: "mmmm", kind: "turn-end", session: "s1", transcript: TRANSCRIPT },
  { id: "nnnn", kind: "turn-end", session: "s1", agent: "codex", worktree: "other" },
  { id: "kkll", kind: "turn-end", session: "s2", turn: 2 },
  { id: "oooo", kind: "safety", session: "s1", turn: 2, name: "one" },
];

const QUERIES: [StepQuery, string[]][] = [
  [{}, ["oooo", "kkll", "nnnn", "mmmm", "llll", "kkkk"]],
  [{ limit: 2 }, ["oooo", "kkll"]],
  [{ limit: 0 }, []],
  [{ id: "kk" }, ["kkll", "kkkk"]],
  [{ worktree: "other" }, ["nnnn"]],
  [{ agent: "claude-code", session: "s1" }, ["oooo", "mmmm", "llll"]],
  [{ session: null }, ["kkkk"]],
  [{ session: undefined, limit: 1 }, ["oooo"]],
  [{ sessionPrefix: "s" }, ["oooo", "kkll", "nnnn", "mmmm", "llll"]],
  [{ session: "s1", turn: 2 }, ["oooo"]],
  [{ kinds: ["turn-start"] }, ["llll"]],
  [{ kinds: ["turn-start", "manual"] }, ["llll", "kkkk"]],
  [{ name: "one", kinds: ["manual"] }, ["kkkk"]],
  [{ hasTranscript: true }, ["mmmm"]],
  [{ after: "nnnn", session: "s1" }, ["oooo"]],
  [{ backTo: "nnnn", worktree: "main" }, ["oooo", "kkll"]],
  [{ backTo: "nnnn", session: "s1" }, ["oooo", "nnnn"]],
  [{ from: "mmmm", session: "s1" }, ["mmmm", "llll"]],
  [{ from: "nnnn", backTo: "llll", agent: "claude-code" }, ["mmmm", "llll"]],
  [{ since: "2026-01-05T09:03:00.000Z", worktree: "main" }, ["oooo", "kkll"]],
];

test("a query accepts the steps that meet all of its conditions", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  for (const [minute, step] of STEPS.entries())
    appendStep(workspace, makeStep({ time: `2026-01-05T09:0${minute}:00.000Z`, ...step }));
  const log = stepsIn(workspace);
  for (const [query, ids] of QUERIES) {
    const idsOf = (steps: Iterable<Step>) => [query, Array.from(steps, ({ id }) => id)];
    expect(idsOf(log.newestFirst(query))).toEqual([query, ids]);
    expect(idsOf(log.oldestFirst(query))).toEqual([query, ids.toReversed()]);
    expect(log.newest(query)?.id).toBe(ids[0]);
    expect(log.has(query)).toBe(ids.length > 0);
  }
  expect([log.byId("kkl")?.id, log.byId("zz"), log.sessionId("s1")]).toEqual(["kkll", undefined, "s1"]);
  const refused = async (ask: () => unknown) => (await refusal(Promise.try(ask))).kind;
  expect(await refused(() => log.byId("kk"))).toBe("usage");
  expect(await refused(() => log.sessionId("s"))).toBe("usage");
  expect(await refused(() => log.sessionId("t"))).toBe("not-found");
});
