import { expect, test } from "bun:test";
import { isRecord } from "../../base/json.ts";
import { PACKAGED } from "../registry/packaged.ts";
import type { Profile } from "./profile.ts";
import { isProfile } from "./profile.ts";
import { problemsOf, profileJsonSchema } from "./schema.ts";

const packaged = await PACKAGED["claude-code"]?.profile();
if (!packaged) throw new Error("no Claude Code");
const profile: Profile = packaged;

test("every packaged profile is right, and of the shape that hooks expect", async () => {
  for (const [id, { profile: load }] of Object.entries(PACKAGED)) {
    const each = await load();
    expect(problemsOf(each)).toEqual([]);
    expect(isProfile(each)).toBe(true);
    expect(each.id).toBe(id);
  }
});

test("an error names its location", () => {
  expect(problemsOf({ ...profile, id: "Not An Id" })).toEqual(["id: must be lowercase letters, digits and hyphens"]);
  expect(problemsOf({ ...profile, unheard: 1 })[0]).toContain("unheard");
  expect(problemsOf({ ...profile, hooks: { ...profile.hooks, events: { Stop: "Halt" } } })[0]).toStartWith(
    "hooks.events.Stop:",
  );
  expect(problemsOf({ ...profile, hooks: { ...profile.hooks, fields: { prompt: ["prompt"] } } })[0]).toBe(
    "hooks.fields.prompt.0: must be a path such as $.tool_input.file_path",
  );
  expect(problemsOf("nonsense")[0]).toStartWith("the file:");
});

test("paths that leave their directory are refused", () => {
  for (const path of ["/etc/passwd", "../x", "a/../../x", "a/..", "C:/x", "a\\b", ""]) {
    expect(problemsOf({ ...profile, protected_dirs: [path] })).toHaveLength(1);
  }
  expect(problemsOf({ ...profile, protected_dirs: [".claude", "a/b..c/.d"] })).toEqual([]);
});

test("rules beyond the schema are checked as well", () => {
  const rules = [{ score: 1 }, { score: 1, path_matches: { path: "$.a", regex: "(" } }];
  expect(problemsOf({ ...profile, detection: { min_score: 1, score_rules: rules } })).toEqual([
    "detection.score_rules.0: needs a condition beside its score",
    "detection.score_rules.1.path_matches: not a regular expression without look-around and back-references",
  ]);
  const install = { Stop: { verb: "stop" }, Unheard: { verb: "unheard" } };
  expect(problemsOf({ ...profile, hooks: { ...profile.hooks, install } })).toEqual([
    `hooks.install.Unheard: hooks.events doesn't say what "Unheard" (unheard) means`,
  ]);
  expect(problemsOf({ ...profile, resume: ["claude", "-c"] })).toEqual(["resume: names no {session}"]);
});

test("every key has a description, and an example or nested keys", () => {
  const silent = new Set<string>();
  const look = (schema: unknown, at: string): void => {
    if (!isRecord(schema)) return;
    for (const [name, given] of Object.entries(isRecord(schema["properties"]) ? schema["properties"] : {})) {
      const key = given as Record<string, unknown>;
      const isNever = isRecord(key["not"]);
      const hasKeys = JSON.stringify(key).includes('"properties"');
      const isTold = key["description"] !== undefined && (key["examples"] !== undefined || hasKeys);
      if (!isTold && !isNever) silent.add(`${at}${name}`);
      look(key, `${at}${name}.`);
    }
    for (const part of Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []) look(part, at);
    look(schema["items"], `${at}[].`);
    look(schema["additionalProperties"], `${at}*.`);
  };
  look(profileJsonSchema(), "");
  expect([...silent]).toEqual([]);
});

test("what editors read fits every packaged profile: each of its keys is in the JSON Schema", async () => {
  const known = new Set<string>();
  JSON.stringify(profileJsonSchema(), (key, value) => {
    if (key === "properties") for (const name of Object.keys(value)) known.add(name);
    return value;
  });
  for (const { profile: load } of Object.values(PACKAGED)) {
    for (const name of Object.keys(await load())) expect(known).toContain(name);
  }
});
