import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { KEYS, spellingsOf } from "./keys.ts";
import { defaultConfig } from "./load.ts";
import { configJsonSchema, configSchema, tierProblems } from "./schema.ts";
import { parseJsonValue } from "./values.ts";

const SAMPLES: Record<string, unknown[]> = {
  boolean: [true, "yes", 1, null],
  text: ["always", "manual-commit", "info", "anything", "", 1, null],
  number: [1, 0, -1, 1.5, "1"],
  size: [0, 12, "50 MB", "1 GiB", "big", -1, null],
  list: [[], ["a"], [1], "a"],
  rules: [{ rules: [] }],
};

function nested(key: string, value: unknown): unknown {
  return key
    .replaceAll("*", "mine")
    .split(".")
    .reduceRight((inner, part) => ({ [part]: inner }), value);
}

test("the schema and the table that hooks use agree on every key and value", () => {
  for (const key of KEYS) {
    for (const value of SAMPLES[key.kind] ?? []) {
      const light = "value" in parseJsonValue(key, value);
      const strict = z.safeParse(configSchema, nested(key.name, value)).success;
      expect({ key: key.name, value, holds: strict }).toEqual({ key: key.name, value, holds: light });
    }
  }
});

test("the schema knows no key that the table does not", () => {
  const names = new Set(KEYS.flatMap(({ name }) => spellingsOf(name)).map((name) => name.split(".")[0] ?? ""));
  expect(
    Object.keys(configSchema.shape)
      .filter((name) => name !== "$schema")
      .sort(),
  ).toEqual([...names].sort());
});

test("every setting has a default", () => {
  for (const { name } of KEYS) {
    if (name.includes("*")) continue;
    let node: unknown = defaultConfig();
    for (const part of name.split(".")) node = (node as Record<string, unknown>)[part];
    expect({ name, isThere: node !== undefined }).toEqual({ name, isThere: true });
  }
});

test("tiers that the user defines are checked", () => {
  expect(tierProblems({ rules: [{ on: "ToolEnd", tools: ["write"], min_interval: 30 }] })).toEqual([]);
  expect(tierProblems({ rules: [{ on: "Lunch" }] })[0]).toStartWith("rules.0.on:");
  expect(tierProblems({ rules: [{ on: "TurnEnd", every: 3 }] })[0]).toContain("every");
  expect(tierProblems([])).not.toEqual([]);
});

test("the JSON Schema for editors is up to date", () => {
  const written: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "config.schema.json"), "utf8"));
  expect(written).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
});
