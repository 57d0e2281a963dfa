import { describe, expect, test } from "bun:test";
import { overBudget, parseBudget, parseTime } from "./limits.ts";

describe("a time", () => {
  test.each([
    ["90", 90_000],
    ["1.5s", 1_500],
    ["250ms", 250],
    ["10m", 600_000],
    ["10 min", 600_000],
    ["1h30m", 5_400_000],
    ["2d", 172_800_000],
  ])("%s", (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });

  test.each(["", "0", "soon", "10x", "-5s", "1h later", "40d", "m"])("%p is none", (text) => {
    expect(() => parseTime(text)).toThrow("is not a time");
  });
});

describe("a budget", () => {
  test.each([
    ["50000", { tokens: 50_000, cost: null }],
    ["50k", { tokens: 50_000, cost: null }],
    ["1.5M tokens", { tokens: 1_500_000, cost: null }],
    ["$0.50", { tokens: null, cost: 0.5 }],
    ["2usd", { tokens: null, cost: 2 }],
  ])("%s", (text, budget) => {
    expect(parseBudget(text)).toEqual(budget);
  });

  test.each(["", "0", "$0", "-5k", "much", "5kk", "€5"])("%p is none", (text) => {
    expect(() => parseBudget(text)).toThrow("is not a budget");
  });

  test("tokens read from the cache do not count, and an unknown cost never exceeds the budget", () => {
    const usage = { tokens: { input: 10, output: 10, cacheRead: 1_000, cacheWrite: 5 }, cost: null };
    expect(overBudget(usage, parseBudget("25"))).toBe(false);
    expect(overBudget(usage, parseBudget("24"))).toBe(true);
    expect(overBudget(usage, parseBudget("$0.01"))).toBe(false);
    expect(overBudget({ ...usage, cost: { usd: 0.02, estimated: true } }, parseBudget("$0.01"))).toBe(true);
    expect(overBudget(usage, null)).toBe(false);
  });
});
