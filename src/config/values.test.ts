import { expect, test } from "bun:test";
import { findKey, isGroup, KEYS, variablesOf } from "./keys.ts";
import type { ExpectedValue } from "./problems.ts";
import { parseJsonValue, parseSize, parseTextValue } from "./values.ts";

test("sizes are read in decimal and binary units, and others are refused", () => {
  expect(parseSize("50 MB")).toBe(50_000_000);
  expect(parseSize("1GiB")).toBe(2 ** 30);
  expect(parseSize("1.5 kib")).toBe(1536);
  expect(parseSize("12")).toBe(12);
  for (const text of ["", "MB", "-1 MB", "1 XB", "1e400 GB", "9999999999 TB"]) expect(parseSize(text)).toBeUndefined();
});

test("keys with a name in them are found, and nothing odd is", () => {
  expect(findKey("run.agents.claude-code.model")?.name).toBe("run.agents.*.model");
  expect(findKey("tiers.mine")?.name).toBe("tiers.*");
  for (const name of ["tiers.__proto__", "tiers", "run.agents", "run.agents.a.b", "", "tiers.constructor", "tier.x"]) {
    expect(findKey(name)).toBeUndefined();
  }
  expect(isGroup("run.agents.x")).toBe(true);
  expect(isGroup("tier")).toBe(false);
});

test("text is read by the key's kind", () => {
  const read = (name: string, text: string) => {
    const key = findKey(name);
    return key && parseTextValue(key, text);
  };
  const unexpected = (expected: ExpectedValue, found: string) => ({
    wrong: { kind: "value-unexpected", expected, found } as const,
  });
  expect(read("enabled", "off")).toEqual({ value: false });
  expect(read("enabled", "maybe")).toEqual(unexpected({ kind: "boolean" }, '"maybe"'));
  expect(read("capture.exclude", "a, b,")).toEqual({ value: ["a", "b"] });
  expect(read("capture.exclude", '["a,b"]')).toEqual({ value: ["a,b"] });
  expect(read("retention.days", "0")).toEqual(unexpected({ kind: "minimum", minimum: 1 }, "0"));
  expect(read("strategy", "auto")).toEqual(
    unexpected({ kind: "choice", choices: ["manual-commit", "auto-commit"] }, '"auto"'),
  );
  expect(read("tiers.mine", "{")).toEqual(unexpected({ kind: "json" }, '"{"'));
});

test("no JSON value makes a parser throw", () => {
  for (const key of KEYS) {
    for (const value of [null, 1, -1, 1.5, "", "x", true, [], [1], {}, undefined]) {
      expect(Object.keys(parseJsonValue(key, value))).toHaveLength(1);
    }
  }
});

test("the variables of settings begin with BACKTRAIL_", () => {
  const names = KEYS.flatMap(variablesOf);
  expect(names).toContain("BACKTRAIL_CAPTURE_MAX_FILE_SIZE");
  expect(names).not.toContain("BACKTRAIL_AGENT");
  expect(names.every((name) => /^BACKTRAIL_[A-Z_]+$/.test(name))).toBe(true);
});

test("a deeply nested value is not written out", () => {
  const key = findKey("push.enabled");
  if (!key) throw new Error("No such key.");
  const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  expect(parseJsonValue(key, nested(3))).toMatchObject({ wrong: { found: "[[[]]]" } });
  for (const levels of [100, 100_000])
    expect(parseJsonValue(key, nested(levels))).toMatchObject({ wrong: { found: { deep: "list" } } });
});
