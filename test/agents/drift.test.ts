/** What `npm run agents:drift` makes of the test runner's words. */
import { expect, test } from "bun:test";
import { isDrift, toldBy, verdict } from "../../scripts/drift.ts";

const wanted = { agent: "codex", name: "@openai/codex", version: "0.166.0", integrity: {}, programs: [] };
const HOLDS = "(pass) two turns [1200.00ms]\n(skip) in the terminal\n(pass) rewind [900.51ms]\n\n 2 pass\n";
const BREAKS = `(pass) two turns [1200.00ms]
12 | expect(steps).toHaveLength(2);
error: expect(received).toHaveLength(expected)

Expected length: 2
(fail) a shell edit [31.20ms]
error: the agent asks: Trust this folder? [y/N]
error: something later
(fail) in the terminal > rewind [5.00ms]

2 tests failed:
(fail) a shell edit [31.20ms]
(fail) in the terminal > rewind [5.00ms]
`;

test("stories that hold", () => {
  const told = toldBy(HOLDS);
  expect(told).toEqual({ passed: 2, failed: [], skipped: 1 });
  expect(isDrift(wanted, "0.169.0", told)).toBe(false);
  expect(verdict(wanted, "0.169.0", told)).toEqual([
    "codex 0.166.0 → 0.169.0: all 2 stories hold (1 skipped). The pin in test/real/codex.ts and tested_versions in its profile can follow.",
  ]);
});

test("stories that no longer do, each with its reason", () => {
  const told = toldBy(BREAKS);
  expect(isDrift(wanted, "0.169.0", told)).toBe(true);
  expect(verdict(wanted, "0.169.0", told)).toEqual([
    "codex 0.166.0 → 0.169.0: 2 of 3 stories no longer hold:",
    "  - a shell edit: expect(received).toHaveLength(expected)",
    "  - in the terminal > rewind: the agent asks: Trust this folder? [y/N]",
  ]);
});

test("no newer version is no drift; no output is drift", () => {
  expect(verdict(wanted, "0.166.0", null)).toEqual(["codex 0.166.0: still the newest."]);
  expect(isDrift(wanted, "0.166.0", null)).toBe(false);
  expect(isDrift(wanted, "0.169.0", toldBy("error: it does not start\n"))).toBe(true);
  expect(verdict(wanted, "0.169.0", toldBy(""))).toEqual([
    "codex 0.166.0 → 0.169.0: no story could be told; see above.",
  ]);
});
