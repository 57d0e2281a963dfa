import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("an event counts as recorded however its name is spelled, as for a hook", async () => {
  const made = scaffoldAgent("mine");
  rmSync(made.payloads, { recursive: true });
  mkdirSync(made.payloads);
  const { install = {} } = (await requireAgent("mine")).profile.hooks ?? {};
  for (const name of Object.keys(install)) {
    const spelled = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    const raw = { hook_event_name: spelled, session_id: "s1", cwd: "/p", prompt: "Hello", tool_name: "write" };
    writeFileSync(join(made.payloads, `${name}.json`), JSON.stringify(raw));
  }
  expect((await checkAgent("mine")).unproven.filter((name) => name !== "transcript.lines")).toEqual([]);
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

test("an agent without a profile is not found", async () => {
  mkdirSync(userAgentsDirectory(), { recursive: true });
  await expect(checkAgent("nobody")).rejects.toMatchObject({ kind: "not-found" });
});

test("a cycle of `like` is reported, and a profile outside the usual folders can be checked", async () => {
  mkdirSync(userAgentsDirectory(), { recursive: true });
  const put = (id: string, value: unknown) =>
    writeFileSync(join(userAgentsDirectory(), `${id}.json`), JSON.stringify(value));
  put("a", { v: 2, id: "a", like: "b", display_name: "A" });
  put("b", { v: 2, id: "b", like: "a", display_name: "B" });
  expect((await checkAgent("a")).problems).toEqual(["like: a is like b, b is like a: that is a circle"]);
  const { profile, payloads } = scaffoldAgent("my-agent");
  const elsewhere = join(home, "my-agent.json");
  writeFileSync(elsewhere, readFileSync(profile, "utf8").replace('"executable"', '"exectuable"'));
  const report = await checkAgent(elsewhere, { fixtures: join(payloads, "..") });
  expect(report.problems).toEqual(["exectuable: unknown key; did you mean executable?"]);
  // A profile that is like a built-in agent is complete with that agent's keys.
  put("mine", { v: 2, id: "mine", like: "qwen", display_name: "Mine" });
  expect((await checkAgent("mine")).problems).toEqual([]);
});

test("an agent that tells no prompts passes once its profile says why", async () => {
  mkdirSync(join(userAgentsDirectory(), "silent", "payloads"), { recursive: true });
  for (const event of ["pre_tool", "post_agent"]) {
    const payload = { hook_event_name: event, session_id: "5f0c2b1e-1111-4222-8333-444444444444" };
    writeFileSync(join(userAgentsDirectory(), "silent", "payloads", `${event}.json`), JSON.stringify(payload));
  }
  const silent = {
    v: 2,
    id: "silent",
    display_name: "Silent",
    detection: { min_score: 50, score_rules: [] },
    hooks: {
      settings: { user: { path: ".silent/hooks.toml", format: "toml-hooks", names: { event: "type", name: "name" } } },
      install: { pre_tool: { verb: "pre-tool" }, post_agent: { verb: "post-agent" } },
      fields: { session_id: ["$.session_id"] },
      events: { pre_tool: "TurnStart", post_agent: "TurnEnd" },
      tools: {},
    },
    protected_dirs: [],
    tested_versions: [],
  };
  const put = (value: object) => writeFileSync(join(userAgentsDirectory(), "silent.json"), JSON.stringify(value));
  put(silent);
  const without = await checkAgent("silent");
  expect(without.ok).toBe(false);
  expect(without.payloads.flatMap(({ problems }) => problems)).toEqual(["TurnStart needs prompt, which was not found"]);
  put({ ...silent, cannot: { chat: "Nothing that it sends or writes has its prompts." } });
  const report = await checkAgent("silent");
  expect(report).toMatchObject({ ok: true, problems: [] });
  expect(report.proofs.find(({ what }) => what === "prompts")?.state).toBe("absent");
});

test("a feature without a recording is not called proven", async () => {
  const { profile, payloads, transcripts } = scaffoldAgent("my-agent");
  const stateOf = async (what: string) =>
    (await checkAgent("my-agent")).proofs.find((proof) => proof.what === what)?.state;
  expect(await stateOf("tokens")).toBe("proven");
  expect(await stateOf("cuts")).toBe("proven");
  // Examples prove no hooks, and no recording shows a continued copy.
  expect(await stateOf("hooks")).toBe("unproven");
  expect(await stateOf("fork")).toBe("unproven");
  const text = readFileSync(profile, "utf8");
  writeFileSync(profile, text.replaceAll("$.usage.", "$.spent."));
  expect(await stateOf("tokens")).toBe("unproven");
  writeFileSync(profile, text.replace('"prompt": [\n        "$.prompt"', '"prompt": [\n        "$.nothing"'));
  expect((await checkAgent("my-agent")).ok).toBe(false);
  writeFileSync(profile, text);
  // The agent continued a copy: another session begins with the same entries and goes on by itself.
  const [name = ""] = readdirSync(transcripts);
  const lines = readFileSync(join(transcripts, name), "utf8").split("\n");
  const copy = [
    ...lines.slice(0, 4),
    JSON.stringify({ id: "9", role: "user", content: "Another way", session_id: "s2" }),
  ];
  writeFileSync(join(transcripts, "s2.jsonl"), `${copy.join("\n")}\n`);
  writeFileSync(
    join(payloads, "Stop.json"),
    JSON.stringify({ session_id: "s2", hook_event_name: "Stop", cwd: "/home/dev/project" }),
  );
  expect(await stateOf("fork")).toBe("proven");
});
