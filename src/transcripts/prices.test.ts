/** The table is the package's, and the sums are the package's sums, at the models' first prices. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import fc from "fast-check";
import table from "./prices.json";
import { estimatedCost, hasPrice, PRICES_OF, sumOfCosts, type Use } from "./prices.ts";

const tokens = { input: 400_000, output: 100_000, cacheRead: 500_000, cacheWrite: 100_000 };
const time = "2026-11-17T12:00:00Z";

function usd(model: string | null, more: Partial<Use> = {}): number | null {
  return estimatedCost([{ agent: "claude-code", model, tokens, time, ...more }])?.usd ?? null;
}

test("prices.json is made from the package", () => {
  const script = join(import.meta.dirname, "..", "..", "scripts", "generate-prices.ts");
  const { status, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "cost.md"), "utf8");
  expect(page).toContain(`Prices are those of **${PRICES_OF}**`);
});

test("every sum is the package's", () => {
  const known = table.sellers.flatMap(({ id }) => {
    const all = findProvider({ providerId: id })?.models ?? [];
    return (
      all
        // Speech is told from text by patterns that the table leaves out.
        .filter((model) => !model.id.includes("tts"))
        .map((model) => ({ seller: id, model: model.id }))
    );
  });
  const count = fc.integer({ min: 0, max: 30_000 });
  let compared = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...known),
      fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count }),
      fc.date({ min: new Date("2025-01-01"), max: new Date("2027-12-31"), noInvalidDate: true }),
      ({ seller, model }, used, moment) => {
        const ours = estimatedCost([
          { agent: null, model: `${seller}/${model}`, tokens: used, time: moment.toISOString() },
        ]);
        const { input, output, cacheRead, cacheWrite } = used;
        if (ours === null || input + output + cacheRead + cacheWrite === 0) return;
        const usage = {
          input_tokens: input + cacheRead + cacheWrite,
          cache_read_tokens: cacheRead,
          cache_write_tokens: cacheWrite,
          output_tokens: output,
        };
        const theirs = calcPrice(usage, model, { providerId: seller, timestamp: moment });
        expect(ours.usd).toBeCloseTo(theirs?.total_price ?? -1, 5);
        compared++;
      },
    ),
    { numRuns: 2_000 },
  );
  expect(compared).toBeGreaterThan(1_000);
});

describe("models as transcripts name them", () => {
  test.each([
    ["claude-opus-5-5", 0.4 * 4 + 0.1 * 20 + 0.5 * 0.2 + 0.1 * 5],
    ["claude-opus-5-5-20261001", 0.4 * 4 + 0.1 * 20 + 0.5 * 0.2 + 0.1 * 5],
    ["claude-opus-5-5[1m]", 0.4 * 4 + 0.1 * 20 + 0.5 * 0.2 + 0.1 * 5],
    ["anthropic/claude-opus-5-5", 0.4 * 4 + 0.1 * 20 + 0.5 * 0.2 + 0.1 * 5],
    ["openrouter/anthropic/claude-opus-5-5", 0.4 * 4 + 0.1 * 20 + 0.5 * 0.2 + 0.1 * 5],
    ["gpt-6-sol", 0.4 * 2 + 0.1 * 10 + 0.5 * 0.2 + 0.1 * 2.5],
    ["gemini-3.8-flash", 0.5 * 0.75 + 0.1 * 3.75 + 0.5 * 0.075],
  ])("%s has a price, and what comes from a cache its own", (model, expected) => {
    expect(usd(model)).toBeCloseTo(expected, 6);
  });

  test.each([
    "fake-1",
    "model-1",
    "scripted-1",
    "custom:fake-model-0",
    "custom:claude-opus-5-5",
    "local/model-1",
    "local/gpt-6-sol",
    "auto",
    "<synthetic>",
    "opus",
    "",
    "constructor/claude-opus-5-5",
  ])("%p has none", (model) => {
    expect(usd(model)).toBeNull();
  });

  test("an agent that sells them itself has its own prices", () => {
    expect(hasPrice("copilot-cli", "claude-sonnet-4.5")).toBe(true);
    expect(usd("composer-2.5", { agent: "cursor" })).not.toBeNull();
  });
});

test("a price counts from its day on", () => {
  const before = usd("gemini-3.8-flash", { time: "2026-12-31T23:59:59Z" });
  const after = usd("gemini-3.8-flash", { time: "2027-01-01T00:00:00Z" });
  expect(after).toBeGreaterThan(before ?? Number.POSITIVE_INFINITY);
});

test("nothing used costs nothing, and one unknown makes the sum unknown", () => {
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const use = { agent: null, model: "claude-opus-5-5", tokens, time };
  expect(estimatedCost([{ ...use, model: "fake-1", tokens: none }])).toEqual({ usd: 0, estimated: true });
  expect(estimatedCost([use, { ...use, model: "fake-1" }])).toBeNull();
  expect(estimatedCost([{ ...use, tokens: { ...none, input: Number.MAX_VALUE / 10 } }])).toBeNull();
  const cost = { usd: 0.1, estimated: false };
  expect(
    sumOfCosts([
      { tokens, cost },
      { tokens: none, cost: null },
    ]),
  ).toEqual(cost);
  expect(
    sumOfCosts([
      { tokens, cost },
      { tokens, cost: null },
    ]),
  ).toBeNull();
  expect(
    sumOfCosts([
      { tokens, cost },
      { tokens, cost: { usd: 0.2, estimated: true } },
    ]),
  ).toEqual({
    usd: 0.3,
    estimated: true,
  });
});

test("a reported cost is used as it is; a sum with an estimate is an estimate", () => {
  const tokens = { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0 };
  const reported: Use = { agent: "opencode", model: "unheard-of", tokens, time: null, usd: 0.25 };
  const estimated: Use = { agent: "claude-code", model: "claude-opus-4-6", tokens, time: null };
  expect(estimatedCost([reported])).toEqual({ usd: 0.25, estimated: false });
  expect(estimatedCost([reported, estimated])).toMatchObject({ estimated: true });
});
