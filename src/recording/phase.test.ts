import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { runs } from "../../test/support/own-process.ts";
import { findKey } from "../config/keys.ts";
import { applyEvent, diagram, PHASE_EVENTS, PHASES, type Phase, transition } from "./phase.ts";
import { readRules, TIER_NAMES, takesStep, tierRules } from "./tiers/tiers.ts";

test("every phase has an answer to every event, among the phases that there are", () => {
  for (const phase of PHASES) {
    for (const event of PHASE_EVENTS) expect(PHASES).toContain(transition(phase, event).phase);
  }
});

test("the specified rows", () => {
  expect(transition("IDLE", "TurnStart")).toEqual({ phase: "ACTIVE", actions: ["BeginTurn"] });
  expect(transition("ACTIVE", "TurnEnd")).toEqual({ phase: "IDLE", actions: ["SaveTurnEnd"] });
  expect(transition("ACTIVE", "GitCommit")).toEqual({ phase: "ACTIVE_COMMITTED", actions: [] });
  expect(transition("ACTIVE_COMMITTED", "TurnEnd")).toEqual({ phase: "IDLE", actions: ["SaveTurnEnd"] });
  expect(transition("IDLE", "GitCommit")).toEqual({ phase: "IDLE", actions: [] });
  expect(transition("ENDED", "GitCommit")).toEqual({ phase: "ENDED", actions: [] });
  expect(transition("ENDED", "TurnStart").phase).toBe("ACTIVE");
  expect(transition("ENDED", "SessionStart").phase).toBe("IDLE");
});

test("over any events: only a session's end ends it, every turn that begins is saved once, a commit has no actions", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PHASE_EVENTS), { maxLength: 30 }), (events) => {
      const state: { phase: Phase } = { phase: "IDLE" };
      let [open, committed] = [false, false];
      for (const event of events) {
        const before = state.phase;
        const actions = applyEvent(state, event);
        if (state.phase === "ENDED" && before !== "ENDED") expect(event).toBe("SessionEnd");
        if (event === "GitCommit") {
          expect(actions).toEqual([]);
          committed = open;
        }
        for (const action of actions) {
          if (action === "SaveInterruptedTurn") expect(open).toBe(true);
          if (action === "BeginTurn") expect(open).toBe(false);
          if (action === "BeginTurn") open = true;
          if (action === "SaveInterruptedTurn" || action === "SaveTurnEnd" || action === "SaveSessionEnd") open = false;
        }
        if (!open || event === "TurnStart") committed = false;
        expect(open).toBe(state.phase === "ACTIVE" || state.phase === "ACTIVE_COMMITTED");
        expect(committed).toBe(state.phase === "ACTIVE_COMMITTED");
      }
    }),
    runs(300),
  );
});

test("a session that its agent never left stays in its phase when it starts again", () => {
  for (const phase of PHASES) {
    if (phase !== "ENDED")
      expect(transition(phase, "SessionStart", { continuing: true })).toEqual({ phase, actions: [] });
  }
  expect(transition("ENDED", "SessionStart", { continuing: true }).phase).toBe("IDLE");
});

test("the document is what the table says", () => {
  const script = join(import.meta.dirname, "..", "..", "scripts", "phases.ts");
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, script, "--check"]);
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  expect(diagram().split("\n")).toHaveLength(2 + PHASES.length * PHASE_EVENTS.length + 1);
});

const question = { tool: null, isDestructive: () => true, secondsSinceLastStep: 1_000 };

test("the built-in tiers take the steps that they promise", () => {
  const takes = (tier: string, event: "SessionStart" | "TurnStart" | "TurnEnd" | "SubagentEnd") =>
    takesStep(tierRules(tier, {}), { ...question, event });
  expect(takes("minimal", "SessionStart")).toBe(true);
  expect(takes("minimal", "TurnStart")).toBe(false);
  expect(takes("minimal", "TurnEnd")).toBe(true);
  expect(takes("balanced", "SessionStart")).toBe(false);
  expect(takes("balanced", "TurnStart")).toBe(true);
  expect(takes("balanced", "SubagentEnd")).toBe(true);
  for (const tier of ["balanced", "aggressive"]) {
    const shell = { ...question, event: "ToolStart" as const, tool: "shell" as const };
    expect(takesStep(tierRules(tier, {}), shell)).toBe(true);
    expect(takesStep(tierRules(tier, {}), { ...shell, isDestructive: () => false })).toBe(false);
    const written = { ...question, event: "ToolEnd" as const, tool: "write" as const };
    expect(takesStep(tierRules(tier, {}), written)).toBe(tier === "aggressive");
  }
});

test("a user's own tier, its interval, and names and rules that mean nothing", () => {
  const own = { calm: { rules: [{ on: "ToolEnd", tools: ["write"], min_interval: 30 }, { on: "Nonsense" }, 7, null] } };
  const rules = tierRules("calm", own);
  expect(rules).toEqual([{ on: "ToolEnd", tools: ["write"], minInterval: 30 }]);
  const written = { ...question, event: "ToolEnd" as const, tool: "write" as const };
  expect(takesStep(rules, { ...written, secondsSinceLastStep: 29 })).toBe(false);
  expect(takesStep(rules, { ...written, secondsSinceLastStep: 30 })).toBe(true);
  expect(tierRules("nobody", {})).toEqual(tierRules("balanced", {}));
  expect(tierRules("constructor", {})).toEqual(tierRules("balanced", {}));
  expect(tierRules("minimal", { minimal: { rules: "x" } })).toEqual(tierRules("minimal", {}));
  for (const value of [null, 1, "x", [], {}, { rules: {} }]) expect(readRules(value)).toBeUndefined();
});

test("a repository may choose every built-in tier, each of which keeps the end of every turn", () => {
  expect(findKey("tier")?.repository).toEqual({ may: "choose", from: TIER_NAMES });
  for (const name of TIER_NAMES) expect(tierRules(name, {})).toContainEqual({ on: "TurnEnd" });
});
