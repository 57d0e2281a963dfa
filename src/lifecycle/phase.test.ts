import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { runs } from "../../test/support/own-process.ts";
import { diagram, PHASE_EVENTS, PHASES, transition } from "./phase.ts";
import { readRules, takesStep, tierRules } from "./tiers.ts";

test("every phase has an answer to every event, among the phases that there are", () => {
  for (const phase of PHASES) {
    for (const event of PHASE_EVENTS) expect(PHASES).toContain(transition(phase, event).phase);
  }
});

test("the specified rows", () => {
  expect(transition("IDLE", "TurnStart")).toEqual({ phase: "ACTIVE", actions: ["CaptureBefore"] });
  expect(transition("ACTIVE", "TurnEnd")).toEqual({ phase: "IDLE", actions: ["SaveStep"] });
  expect(transition("ACTIVE", "GitCommit")).toEqual({ phase: "ACTIVE_COMMITTED", actions: ["CondenseProvisionally"] });
  expect(transition("ACTIVE_COMMITTED", "TurnEnd")).toEqual({ phase: "IDLE", actions: ["SaveStep", "Condense"] });
  expect(transition("IDLE", "GitCommit")).toEqual({ phase: "IDLE", actions: ["Condense"] });
  expect(transition("ENDED", "GitCommit")).toEqual({ phase: "ENDED", actions: ["CondenseIfTouched"] });
  expect(transition("ENDED", "TurnStart").phase).toBe("ACTIVE");
  expect(transition("ENDED", "SessionStart").phase).toBe("IDLE");
});

test("over any events: only a session's end ends it, every turn that begins is closed once, commits in a turn are condensed", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PHASE_EVENTS), { maxLength: 30 }), (events) => {
      let phase = PHASES[0] ?? "IDLE";
      let [open, uncondensed] = [false, false];
      for (const event of events) {
        const next = transition(phase, event);
        if (next.phase === "ENDED" && phase !== "ENDED") expect(event).toBe("SessionEnd");
        for (const action of next.actions) {
          const closes = action === "CloseOpenTurn" || (action === "SaveStep" && event === "TurnEnd");
          if (action === "CloseOpenTurn") expect(open).toBe(true);
          if (closes) open = false;
          if (action === "CaptureBefore") {
            expect(open).toBe(false);
            open = true;
          }
          if (action === "CondenseProvisionally") uncondensed = true;
          if (action === "Condense") uncondensed = false;
        }
        phase = next.phase;
        expect(open).toBe(phase === "ACTIVE" || phase === "ACTIVE_COMMITTED");
        expect(uncondensed).toBe(phase === "ACTIVE_COMMITTED");
      }
    }),
    runs(300),
  );
});

test("a rewriting commit and a session that goes on change nothing", () => {
  for (const phase of PHASES) {
    expect(transition(phase, "GitCommit", { rewriting: true })).toEqual({ phase, actions: [] });
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
