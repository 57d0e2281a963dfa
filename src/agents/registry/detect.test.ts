import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryDirectory } from "../../../test/support/index.ts";
import type { Profile, ScoreRule } from "../contract/profile.ts";
import { agentOfTranscript, bestMatch, detectAgent, readStart, scores } from "./detect.ts";
import { getPackaged } from "./registry.ts";

const root = mkdtempSync(join(tmpdir(), "detect-"));
mkdirSync(join(root, ".alpha"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function profile(id: string, min_score: number, ...score_rules: ScoreRule[]): Profile {
  return { v: 1, id, display_name: id, detection: { min_score, score_rules }, protected_dirs: [], tested_versions: [] };
}

const nothing = { payload: {}, env: {}, root: null };

test("the highest score at or above its own minimum wins", () => {
  const low = profile("low", 10, { score: 10, path_exists: "$.a" });
  const high = profile("high", 10, { score: 11, path_exists: "$.a" });
  const demanding = profile("demanding", 100, { score: 99, path_exists: "$.a" });
  expect(bestMatch([low, demanding, high], { ...nothing, payload: { a: null } })?.id).toBe("high");
  expect(bestMatch([demanding], { ...nothing, payload: { a: 1 } })).toBeUndefined();
});

test("ties are broken by the strongest rule, then by id, in any order", () => {
  const twoRules = profile("a-two", 1, { score: 5, path_exists: "$.a" }, { score: 5, path_exists: "$.b" });
  const oneRule = profile("z-one", 1, { score: 10, path_exists: "$.a" });
  const same = profile("b-one", 1, { score: 10, path_exists: "$.b" });
  const evidence = { ...nothing, payload: { a: 1, b: 1 } };
  for (const order of [
    [twoRules, oneRule, same],
    [same, oneRule, twoRules],
    [oneRule, twoRules, same],
  ]) {
    expect(scores(order, evidence).map((score) => score.id)).toEqual(["b-one", "z-one", "a-two"]);
  }
});

test("conditions: path, expression, variable, directory; all of a rule's must hold", () => {
  const matched = profile("x", 1, { score: 1, path_matches: { path: "$.p", regex: "^/home/" } });
  expect(bestMatch([matched], { ...nothing, payload: { p: "/home/dev" } })).toBeDefined();
  expect(bestMatch([matched], { ...nothing, payload: { p: "/root" } })).toBeUndefined();
  expect(bestMatch([matched], { ...nothing, payload: { p: `/home/${"a".repeat(5000)}` } })).toBeUndefined();
  const broken = profile("x", 1, { score: 1, path_matches: { path: "$.p", regex: "(" } });
  expect(bestMatch([broken], { ...nothing, payload: { p: "(" } })).toBeUndefined();
  const both = profile("x", 1, { score: 1, env_exists: "ALPHA", dir_exists: ".alpha" });
  expect(bestMatch([both], { payload: {}, env: { ALPHA: "1" }, root })).toBeDefined();
  expect(bestMatch([both], { payload: {}, env: { ALPHA: "" }, root })).toBeUndefined();
  expect(bestMatch([both], { payload: {}, env: { ALPHA: "1" }, root: null })).toBeUndefined();
  expect(bestMatch([profile("x", 1, { score: 9 })], nothing)).toBeUndefined();
});

const alpha: Profile = {
  ...profile("alpha", 10, { score: 10, path_exists: "$.alpha" }),
  transcript: { format: "jsonl", directory: ".alpha/logs", title_prefix: "", recognised_by: [["$.alphaId"]] },
};
const beta: Profile = {
  ...profile("beta", 10, { score: 99, env_exists: "BETA" }),
  transcript: { format: "jsonl", directory: ".beta/logs", title_prefix: "", recognised_by: [["$.betaId", "$.type"]] },
};
const both = [alpha, beta];

test("precedence: configuration, payload, environment, transcript path, transcript, none", () => {
  const everything = {
    payload: { alpha: 1 },
    env: { BETA: "1" },
    root: null,
    transcriptPath: "/home/dev/.beta/logs/x.jsonl",
    readTranscript: () => Buffer.from('{"betaId":1,"type":"a"}\n'),
  };
  expect(detectAgent(both, { ...everything, configured: "gamma" })).toEqual({ id: "gamma", by: "configuration" });
  expect(detectAgent(both, everything)).toEqual({ id: "alpha", by: "payload" });
  expect(detectAgent(both, { ...everything, payload: {} })).toEqual({ id: "beta", by: "environment" });
  expect(detectAgent(both, { ...everything, payload: {}, env: {} })).toEqual({ id: "beta", by: "transcript path" });
  expect(detectAgent(both, { ...everything, payload: {}, env: {}, transcriptPath: "/x" })).toEqual({
    id: "beta",
    by: "transcript",
  });
  expect(detectAgent(both, nothing)).toEqual({ id: "unknown", by: "nothing" });
});

test("a document's agent is detected by the document's keys, wherever its messages are", () => {
  const document = JSON.stringify({ betaId: 1, type: 2, history: [{ role: "user" }] }, null, 2);
  expect(agentOfTranscript(both, Buffer.from(document))).toBe("beta");
});

test("a transcript's lines alone identify the agent", () => {
  expect(agentOfTranscript(both, Buffer.from('garbage\n{"betaId":1}\n{"betaId":1,"type":null}\n'))).toBe("beta");
  expect(agentOfTranscript(both, Buffer.from('{"betaId":1,"type":2}'))).toBeUndefined();
  expect(agentOfTranscript(both, Buffer.alloc(0))).toBeUndefined();
});

test("if the lines of two agents look alike, the more specific profile wins, whatever its id", () => {
  const [alpha, beta] = both.map((profile, i) => ({
    ...profile,
    transcript: {
      format: "jsonl" as const,
      directory: ".x",
      recognised_by: i === 0 ? [["$.type", "$.uuid"]] : [["$.type", "$.uuid", "$.provenance"]],
    },
  }));
  if (!alpha || !beta) throw new Error("there are two");
  const line = Buffer.from('{"type":"user","uuid":"1","provenance":"real_user"}\n');
  expect(agentOfTranscript([alpha, beta], line)).toBe(beta.id);
  expect(agentOfTranscript([beta, alpha], line)).toBe(beta.id);
});

test("a transcript that is one document is known by its messages", async () => {
  const { profile: gemini } = await getPackaged("gemini");
  using place = temporaryDirectory();
  const tokens = { input: 1, output: 1 };
  const message = { id: "m", timestamp: "2026-01-05T09:00:00.000Z", type: "gemini", content: "Hello", tokens };
  const path = place.write("session.json", JSON.stringify({ messages: [message] }, null, 2));
  const bytes = readStart(path);
  expect(bytes && agentOfTranscript([gemini], bytes)).toBe("gemini");
  expect(readStart(place.path)).toBeUndefined();
});
