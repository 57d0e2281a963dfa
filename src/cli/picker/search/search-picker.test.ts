import { expect, test } from "bun:test";
import { expectFilled } from "../../../../test/support/keys.ts";
import type { FoundHit } from "../../../search/results/search.ts";
import type { Key } from "../keys.ts";
import { readAnswer } from "./numbered.ts";
import { asTyped, beginSearch, type HitPickerState, press, withHits } from "./state.ts";
import { draw, type HitScreen } from "./view.ts";

const hit = (document: number, parts: Partial<FoundHit> = {}): FoundHit => ({
  ...{
    document,
    id: `step${document}`,
    session: `session-${document}`,
    agent: "claude-code",
    repository: "/work/shop",
  },
  ...{ turn: document, time: "2026-01-05T09:00:00.000Z", field: "prompt", snippet: "Add the token 検索" },
  ...{ matches: [{ start: 8, end: 13 }], path: null, title: null, subagent: false },
  ...{ fate: { state: "kept", commit: null, check: null } },
  ...parts,
});
const HITS = [
  hit(1),
  hit(2, { fate: null }),
  hit(3, { field: "removed", path: "src/session.ts", fate: { state: "undone", commit: "1a2b3c4d5e", check: "red" } }),
];
const found = withHits(beginSearch("token"), HITS, 7);
const screen: HitScreen = {
  ...{ columns: 120, rows: 24, now: new Date("2026-01-05T10:00:00Z"), notes: [] },
  paint: (_, text) => text,
  textsOf: ({ field, snippet, turn, path }) => [
    { field: "prompt", text: "Why?", turn, path: null, isHit: false },
    { field, text: snippet, turn, path, isHit: true },
  ],
  diffOf: ({ path }) => (path === null ? null : "--- a/src/session.ts\n-retry(token)\n"),
};

function after(keys: Key[], state = found): HitPickerState {
  for (const key of keys) {
    const outcome = press(state, key);
    if ("state" in outcome) state = outcome.state;
  }
  return state;
}

const ctrl = (name: string): Key => ({ name, ctrl: true });

test("typing changes the query, and keys act on the chosen hit", () => {
  expect(after([{ sequence: "s" }, { name: "backspace" }, { sequence: "x" }]).query).toBe("tokenx");
  expect(press(found, { name: "return" })).toEqual({ picked: { action: "show", hit: HITS[0] as FoundHit } });
  const third = after([{ name: "down" }, { name: "down" }, { name: "down" }]);
  expect(press(third, ctrl("r"))).toEqual({ picked: { action: "rewind", hit: HITS[2] as FoundHit } });
  expect(press(third, ctrl("y"))).toMatchObject({ picked: { action: "id" } });
  expect(press(found, { name: "escape" })).toEqual({ canceled: true });
  expect(press(beginSearch(""), { name: "return" })).toHaveProperty("state");
});

test("a turn that was not recorded can be shown and resumed, not rewound", () => {
  const second = after([{ name: "down" }]);
  for (const [key, action] of [
    ["r", "rewind to"],
    ["f", "fork from"],
  ] as const) {
    const outcome = press(second, ctrl(key));
    expect("state" in outcome && outcome.state.notice).toContain(action);
  }
  expect(press(second, ctrl("o"))).toMatchObject({ picked: { action: "resume" } });
  expect(after([ctrl("r"), { name: "up" }], second).notice).toBeNull();
});

test("the chosen hit stays chosen while it is found", () => {
  const second = after([{ name: "down" }]);
  expect(withHits(second, [hit(9), hit(2)], 2).cursor).toBe(1);
  expect(withHits(second, [hit(9)], 1).cursor).toBe(0);
});

test("the last word is found by its beginning while it is typed", () => {
  expect(["field:", "tok since:", "tok std:", "x is:un"].map(asTyped)).toEqual(["", "tok ", "tok std:", "x is:un"]);
  const typed = ["tok", "a tok", "-tok", "t", "", "is:und", '"two wo', '"two words"', "price.js", "tok*", "tok "];
  expect(typed.map(asTyped)).toEqual([
    ...["tok*", "a tok*", "-tok*", "t", "", "is:und", '"two wo', '"two words"', "price.js", "tok*", "tok "],
  ]);
});

test("hits and the preview stand beside each other, or one below the other in a narrow window", () => {
  const wide = draw(found, screen);
  expect(wide[0]).toContain("3 of 7");
  expect(wide[1]).toMatch(/^❯ 1 h ago {2}shop {2}turn 1 +│ step1 {2}claude-code$/);
  expect(wide[2]).toContain("prompt   Add the token");
  expect(wide.at(-1)).toContain("^R rewind to before");
  const third = draw(after([{ name: "end" }]), { ...screen, columns: 80 });
  expect(third.join("\n")).toMatch(/undone {2}committed 1a2b3c4d {2}✗ {2}src\/session\.ts.*─{80}.*-retry\(token\)/s);
  expect(draw(beginSearch("x"), { ...screen, notes: ["Nothing found."] })[1]).toContain("Nothing found.");
});

test("the screen is filled exactly, for any keys and any size", () => {
  expectFilled((keys, columns, rows) => draw(after(keys), { ...screen, columns, rows }));
});

test("what an agent wrote cannot reach the terminal as anything but text", () => {
  const hostile = "\u001b]0;owned\u0007\u001b[2Jhello\u0000\u202e";
  const one = hit(1, {
    session: hostile,
    agent: hostile,
    repository: hostile,
    snippet: hostile,
    path: hostile,
    title: hostile,
  });
  const shown = {
    ...screen,
    textsOf: () => [{ field: "output" as const, text: hostile, turn: 1, path: hostile, isHit: true }],
  };
  for (const diffOf of [() => null, () => `+${hostile}`]) {
    const lines = draw(withHits(beginSearch(hostile), [one], 1), { ...shown, diffOf });
    expect(lines.join("")).not.toMatch(/\p{Cc}|\u202e/u);
  }
});

test("a numbered list takes a number, with or without what to do", () => {
  expect(readAnswer("2", HITS)).toMatchObject({ action: "show", hit: { document: 2 } });
  expect(readAnswer("Rewind 3", HITS)).toMatchObject({ action: "rewind", hit: { document: 3 } });
  for (const wrong of ["0", "4", "delete 1", "rewind"])
    expect(() => readAnswer(wrong, HITS)).toThrow(/not a number from 1 to 3/);
});
