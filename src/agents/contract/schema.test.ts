import { expect, test } from "bun:test";
import { PACKAGED } from "../registry/packaged.ts";
import type { Profile } from "./profile.ts";
import { isProfile } from "./profile.ts";
import { problemsOf } from "./schema.ts";

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

test("what is wrong is said with its place", () => {
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

test("what a schema can't say is said as well", () => {
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
