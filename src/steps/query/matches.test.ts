import { expect, test } from "bun:test";
import type { Step } from "../../model/step.ts";
import { isEmptyQuery, matchesTurn, type TurnQuery } from "./matches.ts";

const ANY: TurnQuery = { agents: new Set(), text: null, changes: null, since: null, before: null };

function step(more: Partial<Step>): Step {
  const files = { added: [], modified: [], deleted: [] };
  return { agent: "codex", prompt: null, response: null, name: null, time: "", files, ...more } as unknown as Step;
}

/** It lasted from 10:00 to 10:05. */
const TURN = [
  step({
    time: "2026-01-05T10:05:00Z",
    response: "The Cart is faster now.",
    files: { added: [], modified: ["src/cart.ts"], deleted: [] },
  }),
  step({ time: "2026-01-05T10:00:00Z", prompt: "Make it faster" }),
];

test.each<[string, Partial<TurnQuery>, boolean]>([
  ["nothing asked", {}, true],
  ["its agent", { agents: new Set(["codex", "pi"]) }, true],
  ["another agent", { agents: new Set(["pi"]) }, false],
  ["text of the prompt", { text: "FASTER" }, true],
  ["text of the answer", { text: "the cart" }, true],
  ["other text", { text: "slower" }, false],
  ["a file that it changed", { changes: (path) => path === "src/cart.ts" }, true],
  ["another file", { changes: (path) => path === "src/price.ts" }, false],
  ["it ended since", { since: new Date("2026-01-05T10:03:00Z") }, true],
  ["it ended before", { since: new Date("2026-01-05T10:06:00Z") }, false],
  ["it began before", { before: new Date("2026-01-05T10:03:00Z") }, true],
  ["it began then", { before: new Date("2026-01-05T10:00:00Z") }, false],
  ["one of two conditions", { text: "faster", agents: new Set(["pi"]) }, false],
])("%s", (_, query, expected) => {
  expect(matchesTurn({ ...ANY, ...query }, TURN)).toBe(expected);
  expect(isEmptyQuery({ ...ANY, ...query })).toBe(Object.keys(query).length === 0);
});
