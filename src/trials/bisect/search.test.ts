import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Verdict } from "../../steps/results/types.ts";
import { search } from "./search.ts";

/** A row of verdicts to look at, and how often each was looked at. */
function row(verdicts: readonly Verdict[]) {
  const looked: number[] = [];
  const look = async (at: number): Promise<Verdict> => {
    looked.push(at);
    return verdicts[at] ?? "skip";
  };
  return { look, looked };
}

test("a single break is found in about log2 looks", async () => {
  for (let breaksAt = 1; breaksAt < 1000; breaksAt += 37) {
    const verdicts = Array.from({ length: 1000 }, (_, i): Verdict => (i < breaksAt ? "pass" : "fail"));
    const { look, looked } = row(verdicts);
    expect(await search(999, 0, look)).toEqual({ kind: "found", good: breaksAt - 1, bad: breaksAt });
    expect(looked.length).toBeLessThanOrEqual(13);
  }
});

test("without a good end, near breaks are found near", async () => {
  const verdicts = Array.from({ length: 1000 }, (_, i): Verdict => (i < 997 ? "pass" : "fail"));
  const { look, looked } = row(verdicts);
  expect(await search(999, null, look)).toEqual({ kind: "found", good: 996, bad: 997 });
  expect(looked.length).toBeLessThanOrEqual(6);
});

test("ends with the wrong result are reported", async () => {
  expect(await search(2, null, row(["pass", "fail", "pass"]).look)).toEqual({ kind: "bad-passes" });
  expect(await search(2, 0, row(["fail", "fail", "fail"]).look)).toEqual({ kind: "good-fails" });
  expect(await search(2, null, row(["fail", "skip", "fail"]).look)).toEqual({ kind: "never-passed" });
  expect(await search(2, null, row(["pass", "pass", "skip"]).look)).toEqual({ kind: "inconclusive", at: 2 });
  expect(await search(2, 0, row(["skip", "pass", "fail"]).look)).toEqual({ kind: "inconclusive", at: 0 });
});

test("for any results: the states found pass and fail, and all between them are inconclusive", async () => {
  const verdict = fc.constantFrom<Verdict>("pass", "fail", "skip");
  await fc.assert(
    fc.asyncProperty(fc.array(verdict, { minLength: 1, maxLength: 40 }), fc.boolean(), async (verdicts, open) => {
      const last = verdicts.length - 1;
      const { look } = row(verdicts);
      const outcome = await search(last, open ? null : 0, look);
      if (outcome.kind === "found") {
        expect([verdicts[outcome.good], verdicts[outcome.bad]]).toEqual(["pass", "fail"]);
        expect(outcome.good).toBeLessThan(outcome.bad);
        expect(new Set(verdicts.slice(outcome.good + 1, outcome.bad))).not.toContain("pass");
        expect(new Set(verdicts.slice(outcome.good + 1, outcome.bad))).not.toContain("fail");
      } else if (outcome.kind === "never-passed") {
        // Strides may step over one that passes only where a later one fails before an earlier one does.
        expect(verdicts[last]).toBe("fail");
        expect(verdicts[0]).not.toBe("pass");
      }
    }),
  );
});

test("a row that breaks once and is conclusive in part gives the narrowest answer there is", async () => {
  const shape = fc.record({
    length: fc.integer({ min: 2, max: 40 }),
    breaks: fc.double({ min: 0, max: 1, noNaN: true }),
    skips: fc.array(fc.nat(40)),
    open: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shape, async ({ length, breaks, skips, open }) => {
      const at = 1 + Math.floor(breaks * (length - 2));
      const verdicts = Array.from({ length }, (_, i): Verdict => (i < at ? "pass" : "fail"));
      for (const i of skips) if (i > 0 && i < length - 1) verdicts[i] = "skip";
      const good = verdicts.lastIndexOf("pass");
      const bad = verdicts.indexOf("fail");
      expect(await search(length - 1, open ? null : 0, row(verdicts).look)).toEqual({ kind: "found", good, bad });
    }),
  );
});
