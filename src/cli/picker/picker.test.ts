import { expect, test } from "bun:test";
import { expectFilled } from "../../../test/support/keys.ts";
import { makeStep } from "../../../test/support/steps.ts";
import { entriesFrom, stepOf } from "./entries.ts";
import type { Key } from "./keys.ts";
import { TO_REWIND, TO_UNDO } from "./purpose.ts";
import { begin, type PickerState, press } from "./state.ts";
import { draw, type Screen, withinPreview } from "./view.ts";

const steps = [
  makeStep({ id: "kkkkkkkkkkkk", kind: "manual", name: "before lunch", turn: 2 }),
  makeStep({
    id: "llllllllllll",
    kind: "turn-end",
    turn: 2,
    prompt: "Split the module",
    files: { added: ["src/a.ts"], modified: [], deleted: [] },
  }),
  makeStep({ id: "mmmmmmmmmmmm", kind: "turn-start", turn: 2, prompt: "Split the module" }),
  makeStep({ id: "nnnnnnnnnnnn", kind: "turn-end", turn: 1, prompt: "Fix the login 修复登录" }),
];
const entries = entriesFrom(steps);

function after(keys: Key[], state = begin(entries)): PickerState {
  let current = state;
  for (const key of keys) {
    const outcome = press(current, key);
    if ("state" in outcome) current = outcome.state;
  }
  return current;
}

function typed(text: string): Key[] {
  return [...text].map((sequence) => ({ name: sequence, sequence }));
}

const screen: Screen = {
  purpose: TO_REWIND,
  columns: 80,
  rows: 24,
  paint: (_style, text) => text,
  now: new Date("2026-01-05T10:00:00Z"),
  diffOf: () => undefined,
};

test("a turn is gone back before, or after it where nothing was taken before", () => {
  expect(entries.map(({ title }) => title)).toEqual([
    "saved: before lunch",
    "Split the module",
    "Fix the login 修复登录",
  ]);
  expect(entries.map((entry) => stepOf(entry, false).id)).toEqual(["kkkkkkkkkkkk", "mmmmmmmmmmmm", "nnnnnnnnnnnn"]);
  expect(entries.map((entry) => stepOf(entry, true).id)).toEqual(["kkkkkkkkkkkk", "llllllllllll", "nnnnnnnnnnnn"]);
});

test("typing filters by every word, in prompts, names and files", () => {
  expect(after(typed("LOGIN fix")).matches.map(({ after: { id } }) => id)).toEqual(["nnnnnnnnnnnn"]);
  expect(after(typed("src/a")).matches).toHaveLength(1);
  expect(after(typed("nothing like it")).matches).toEqual([]);
  expect(after([...typed("login"), { name: "u", ctrl: true }]).matches).toHaveLength(3);
  expect(after([...typed("fix lunch"), { name: "w", ctrl: true }]).query).toBe("fix ");
  expect(after([...typed("a😀"), { name: "backspace" }]).query).toBe("a");
});

test("the chosen entry stays chosen while it matches", () => {
  const state = after([{ name: "down" }, { name: "down" }, ...typed("fix")]);
  expect(state.matches[state.cursor]?.after.id).toBe("nnnnnnnnnnnn");
});

test("enter picks, escape stops, and nothing is picked where nothing matches", () => {
  expect(press(after([{ name: "down" }, { name: "tab" }]), { name: "return" })).toMatchObject({
    after: true,
    picked: { title: "Split the module" },
  });
  expect(press(begin(entries), { name: "escape" })).toEqual({ canceled: true });
  expect(press(begin(entries), { name: "c", ctrl: true })).toEqual({ canceled: true });
  expect(press(after(typed("zzz")), { name: "return" })).toHaveProperty("state");
});

test("to undo a turn there is no before and after, and only turns that are still applied are offered", () => {
  // Not a saved name, nor a turn that changed no files.
  expect(entries.filter(TO_UNDO.offers).map(({ title }) => title)).toEqual(["Split the module"]);
  const gone = entries.map((entry) => ({ ...entry, isGone: true }));
  expect(gone.filter(TO_UNDO.offers)).toEqual([]);
  const state = after([{ name: "tab" }], begin(entries, TO_UNDO.sides));
  expect(state.after).toBe(false);
  const lines = draw(state, { ...screen, purpose: TO_UNDO });
  expect(lines[0]).toBe("Undo which turn?");
  expect(lines.at(-1)).not.toContain("before/after");
});

test("the screen is filled exactly, for any keys and any size", () => {
  expectFilled((keys, columns, rows) => {
    const state = after(keys);
    expect(state.cursor).toBeGreaterThanOrEqual(0);
    expect(state.cursor).toBeLessThan(Math.max(1, state.matches.length));
    return draw(state, { ...screen, columns, rows });
  });
});

test("the preview scrolls no further than to its last line", () => {
  const chosen = entries[1];
  const diff = Array.from({ length: 40 }, (_, i) => `+line ${i}`).join("\n");
  const long: Screen = { ...screen, diffOf: (entry) => (entry === chosen ? diff : undefined) };
  const right = Array(9).fill({ name: "right" });
  const short = withinPreview(after(right), long);
  expect(short.scrolled).toBe(0);
  const down = withinPreview(after([{ name: "down" }, ...right]), long);
  const lines = draw(down, long);
  expect(lines.at(-2)).toContain("line 39");
  expect(lines.filter((line) => line.trim() === "")).toEqual([]);
});

test("control characters from agents and file names do not reach the terminal", () => {
  const hostile = "\u001b]0;owned\u0007\u001b[2Jhello\u0000\u202e";
  const step = makeStep({
    id: "qqqqqqqqqqqq",
    kind: "turn-end",
    prompt: hostile,
    agent: hostile,
    branch: hostile,
    files: { added: [hostile], modified: [], deleted: [] },
  });
  const lines = draw(begin(entriesFrom([step])), { ...screen, diffOf: () => `+${hostile}` });
  expect(lines.join("")).not.toMatch(/\p{Cc}|\u202e/u);
});
