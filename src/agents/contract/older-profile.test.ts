import { expect, test } from "bun:test";
import fc from "fast-check";
import { upgradedProfile } from "./older-profile.ts";
import { problemsOf } from "./schema.ts";

const OLDER = {
  id: "elder",
  display_name: "Elder",
  detection: {
    min_score: 50,
    score_rules: [
      { score: 40, when: { json_path_exists: "$.elder_session" } },
      { score: 60, when: { json_path_matches: { path: "$.transcript_path", regex: "/\\.elder/" } } },
      { score: 10, when: { env_exists: "ELDER_HOME" } },
      { score: 5, when: { dir_exists: ".elder" } },
    ],
  },
  hooks: {
    event_name_paths: ["$.hook_event_name"],
    session_id_paths: ["$.session_id", "$.sid"],
    cwd_paths: ["$.cwd"],
    tool_name_paths: ["$.tool"],
    event_name_map: { Stop: "turn_end", UserPromptSubmit: "TurnStart" },
    tool_name_map: { write: ["WriteFile", "EditFile"], shell: ["Run"] },
  },
  transcript: {
    format: "jsonl",
    directory: ".elder/sessions",
    last_event_id_fields: ["$.uuid", "id"],
    title_prefix: { enabled: true, prefix: "[Fork] ", json_path: "$.title" },
    lines: { types: { user: "prompt" } },
  },
};

test("a profile in the older format keeps its meaning", () => {
  const profile = upgradedProfile(OLDER);
  expect(problemsOf(profile)).toEqual([]);
  expect(profile).toMatchObject({
    v: 1,
    detection: {
      score_rules: [
        { score: 40, path_exists: "$.elder_session" },
        { score: 60, path_matches: { path: "$.transcript_path", regex: "/\\.elder/" } },
        { score: 10, env_exists: "ELDER_HOME" },
        { score: 5, dir_exists: ".elder" },
      ],
    },
    hooks: {
      fields: {
        event: ["$.hook_event_name"],
        session_id: ["$.session_id", "$.sid"],
        cwd: ["$.cwd"],
        tool_name: ["$.tool"],
      },
      events: { Stop: "TurnEnd", UserPromptSubmit: "TurnStart" },
      install: { Stop: { verb: "stop" }, UserPromptSubmit: { verb: "user-prompt-submit" } },
      tools: { WriteFile: "write", EditFile: "write", Run: "shell" },
    },
    transcript: { title_prefix: "[Fork] ", lines: { title: ["$.title"] } },
  });
});

test("a disabled title prefix is empty; unknown keys are named", () => {
  const transcript = { ...OLDER.transcript, title_prefix: { enabled: false, prefix: "x" } };
  expect(upgradedProfile({ ...OLDER, transcript })).toMatchObject({ transcript: { title_prefix: "" } });
  expect(problemsOf(upgradedProfile({ ...OLDER, moon: 1 })).join()).toContain("moon");
});

test("an unknown condition is named, not dropped", () => {
  const rules = [{ score: 50, when: { json_path_exists: "$.elder_session", file_exists: "elder.json" } }];
  const older = { ...OLDER, detection: { min_score: 50, score_rules: rules } };
  expect(problemsOf(upgradedProfile(older)).join()).toContain("detection.score_rules.0.file_exists: unknown key");
});

test("a profile with a version stays as it is, and nothing makes it throw", () => {
  const present = { v: 1, id: "x" };
  expect(upgradedProfile(present)).toBe(present);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("detection", "hooks", "transcript", "id"), fc.jsonValue()), (value) => {
      upgradedProfile(value);
    }),
  );
});
