import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capabilitiesOf, requireAgent, userAgentsDirectory } from "../registry/registry.ts";
import { checkAgent } from "./check.ts";
import { scaffoldAgent } from "./scaffold.ts";

let home: string;
const before = process.env["BACKTRAIL_HOME"];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "check-"));
  process.env["BACKTRAIL_HOME"] = home;
});

afterEach(() => {
  if (before === undefined) delete process.env["BACKTRAIL_HOME"];
  else process.env["BACKTRAIL_HOME"] = before;
  rmSync(home, { recursive: true, force: true });
});

test("a new agent is one profile with examples, and passes its own check", async () => {
  const made = scaffoldAgent("my-agent");
  expect(made.profile).toBe(join(userAgentsDirectory(), "my-agent.json"));
  expect(made.files).toHaveLength(6);
  const report = await checkAgent("my-agent");
  expect(report).toMatchObject({ ok: true, problems: [], unproven: [] });
  expect(report.payloads.map(({ event, type, example }) => [event, type, example])).toEqual([
    ["SessionEnd", "SessionEnd", true],
    ["SessionStart", "SessionStart", true],
    ["Stop", "TurnEnd", true],
    ["UserPromptSubmit", "TurnStart", true],
  ]);
  expect(capabilitiesOf(await requireAgent("my-agent"))).toMatchObject({ hooks: true, chat: true, rewind: true });
});

test("nothing is written over, and no id leads elsewhere", () => {
  scaffoldAgent("my-agent");
  expect(() => scaffoldAgent("my-agent")).toThrow("already a profile");
  expect(() => scaffoldAgent("claude-code")).toThrow("built in");
  for (const id of ["../x", "A", "", "a/b"]) expect(() => scaffoldAgent(id)).toThrow("can't be an agent's id");
});

test("every field is reported as found or missing", async () => {
  const { payloads } = scaffoldAgent("my-agent");
  writeFileSync(join(payloads, "prompt.json"), JSON.stringify({ hookEventName: "UserPromptSubmit", text: "hello" }));
  const report = await checkAgent("my-agent");
  const check = report.payloads.find((payload) => payload.file === "prompt.json");
  expect(check).toMatchObject({ type: null, found: ["event"], example: false });
  expect(check?.missing).toContain("prompt");
  expect(report.fields.find(({ field }) => field === "prompt")).toEqual({
    field: "prompt",
    paths: ["$.prompt"],
    found: 1,
  });
});

test("an event without what it needs is a problem", async () => {
  const { payloads } = scaffoldAgent("my-agent");
  const payload = { hook_event_name: "UserPromptSubmit", session_id: "s", text: "the prompt is somewhere else" };
  writeFileSync(join(payloads, "prompt.json"), JSON.stringify(payload));
  writeFileSync(join(payloads, "torn.json"), '{"hook_event');
  const report = await checkAgent("my-agent");
  const problems = Object.fromEntries(report.payloads.map(({ file, problems }) => [file, problems]));
  expect(report.ok).toBe(false);
  expect(problems["prompt.json"]).toEqual(["TurnStart needs prompt, which was not found"]);
  expect(problems["torn.json"]).toEqual(["not a JSON object"]);
});

test("hooks that nothing was recorded of are named", async () => {
  const { payloads } = scaffoldAgent("my-agent");
  rmSync(join(payloads, "stop.example.json"));
  expect(await checkAgent("my-agent")).toMatchObject({ ok: false, unproven: ["Stop"] });
});

test("a profile that can't be used says why", async () => {
  const { profile } = scaffoldAgent("my-agent");
  const text = readFileSync(profile, "utf8");
  writeFileSync(profile, text.replace('"v": 2', '"v": 3'));
  expect((await checkAgent("my-agent")).problems[0]).toStartWith("v:");
  writeFileSync(profile, text.slice(0, 100));
  expect((await checkAgent("my-agent")).problems[0]).toStartWith("the file:");
  writeFileSync(profile, text.replace('"id": "my-agent"', '"id": "other"'));
  expect((await checkAgent("my-agent")).problems).toEqual(["id: must be the file's name without .json"]);
});

test("what only code can do is asked of no profile alone; a transcript that can't be read is named", async () => {
  const { profile, transcripts } = scaffoldAgent("my-agent");
  const text = readFileSync(profile, "utf8");
  writeFileSync(profile, text.replace('"claude-settings"', '"own-file"'));
  expect((await checkAgent("my-agent")).problems).toEqual([
    "hooks.settings.project: own-file needs an adapter that writes the file",
  ]);
  writeFileSync(profile, text.replace('"user": "prompt"', '"person": "prompt"'));
  const [transcript] = (await checkAgent("my-agent")).transcripts;
  expect(transcript?.problems[0]).toStartWith("no prompt was found");
  writeFileSync(profile, text.replace('"jsonl"', '"json"'));
  expect((await checkAgent("my-agent")).problems).toEqual([
    "transcript.lines.list: missing: where in the document is the list of messages?",
  ]);
  writeFileSync(profile, text);
  rmSync(transcripts, { recursive: true });
  expect(await checkAgent("my-agent")).toMatchObject({ ok: false, unproven: ["transcript.lines"] });
});

test("an agent that nobody has described is not found", async () => {
  mkdirSync(userAgentsDirectory(), { recursive: true });
  await expect(checkAgent("nobody")).rejects.toMatchObject({ kind: "not-found" });
});
