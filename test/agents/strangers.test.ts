/**
 * What was learned from agents that are in no file here, added by the documentation alone: one without hooks that keeps
 * a document with no ids, one that names a directory by the session, one whose payloads have its own name in a path.
 */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { endRecording, startRecording } from "../../src/agents/authoring/capture/record.ts";
import { checkAgent } from "../../src/agents/authoring/check.ts";
import { writeProposal } from "../../src/agents/authoring/propose/propose.ts";
import { getAgent } from "../../src/agents/registry/registry.ts";
import type { TemporaryDirectory } from "../support/index.ts";
import { eachInDirectory } from "../support/own-home.ts";

const SESSION = "d17feb12-a65c-45fe-bfce-559db04b462b";
let place: TemporaryDirectory;
eachInDirectory((directory) => {
  place = directory;
});

const said = (role: string, content: string, more: object = {}) => ({ message: { role, content, ...more } });
const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } };
const arguments_ = JSON.stringify({ filepath: "/home/dev/a.txt", content: "a" });
const use = { id: "call_1", type: "function", function: { name: "Write", arguments: arguments_ } };
const done = { toolCallStates: [{ toolCallId: "call_1", output: [{ content: "Wrote it", name: "Tool Result" }] }] };
const DOCUMENT = {
  sessionId: SESSION,
  title: "Untitled",
  workspaceDirectory: "/home/dev/project",
  history: [
    said("user", "Write a file"),
    { ...said("assistant", "I will", { toolCalls: [use], usage }), ...done },
    said("assistant", "It is there", { usage }),
    said("user", "And now?"),
    said("assistant", "Nothing more", { usage }),
  ],
};

async function recorded(id: string, path: string, content: string, payloads: Record<string, object> = {}) {
  const home = place.at("home");
  const cwd = join(home, "project");
  mkdirSync(cwd, { recursive: true });
  const started = await startRecording({ id, home, cwd, watched: [], hooks: null, executable: "/opt/backtrail" });
  for (const [name, value] of Object.entries(payloads)) {
    writeFileSync(join(started.directory, "payloads", `${name}.json`), JSON.stringify(value));
  }
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), content);
  started.look();
  return writeProposal(id, (await endRecording(id)) ?? "");
}

test("without hooks, the session is the id in the file's name and content", async () => {
  const { profile, doubts } = await recorded("talker", `.talker/sessions/${SESSION}.json`, JSON.stringify(DOCUMENT));
  expect(profile.transcript).toMatchObject({ directory: ".talker/sessions", place: "{session}.json" });
  expect(profile.transcript?.lines).toMatchObject({
    session_id: ["$.sessionId"],
    tokens: { cache_read: ["$.message.usage.prompt_tokens_details.cached_tokens"], input_has_cache: true },
  });
  // Nothing called a hook, so none is to be installed.
  expect(profile.hooks).toMatchObject({ settings: {}, install: {} });
  const keys = doubts.map(({ kind, key }) => `${kind} ${key}`);
  expect(keys).toContain("guess executable");
  expect(keys).not.toContain("session-guessed transcript.place");

  const report = await checkAgent("talker");
  expect(report).toMatchObject({ ok: true, problems: [] });
  const states = Object.fromEntries(report.proofs.map(({ what, state }) => [what, state]));
  expect(states).toMatchObject({ place: "proven", conversation: "proven", tokens: "proven", cuts: "proven" });
  const result = report.transcripts[0]?.lines.find(({ is }) => is === "tool-result");
  expect(result?.text).toBe("call_1 Wrote it");
});

test("messages without ids are known by their place: a turn ends at one, and a copy too", async () => {
  await recorded("talker", `.talker/sessions/${SESSION}.json`, JSON.stringify(DOCUMENT));
  const agent = await getAgent("talker");
  const bytes = Buffer.from(JSON.stringify(DOCUMENT));
  const first = agent?.analyzer?.readSlice(bytes, 0, "#3");
  expect(first).toMatchObject({ prompts: ["And now?"], lastId: "#5", lastAnswer: "Nothing more", files: [] });
  expect(first?.tokens).toEqual({ input: 40, output: 7, cacheRead: 60, cacheWrite: 0 });
  const copy = agent?.forker?.fork({
    bytes,
    lastId: "#3",
    transcriptPath: join(place.at("home"), `.talker/sessions/${SESSION}.json`),
    newSessionId: "4f6c7c1e-0000-4000-8000-000000000001",
    projectRoot: "/home/dev/project",
    title: "T",
  });
  const made = JSON.parse(Buffer.from(copy?.content ?? []).toString("utf8"));
  expect(made).toMatchObject({ sessionId: "4f6c7c1e-0000-4000-8000-000000000001" });
  expect(made.history).toEqual(DOCUMENT.history.slice(0, 3));
});

test("a document on one line is a document, with and without the line's end", async () => {
  for (const end of ["", "\n"]) {
    await recorded(`talker${end.length}`, `.talker${end.length}/${SESSION}.json`, JSON.stringify(DOCUMENT) + end);
    const agent = await getAgent(`talker${end.length}`);
    expect(agent?.profile.transcript?.format).toBe("json");
    expect(agent?.analyzer?.isWhole?.(Buffer.from(JSON.stringify(DOCUMENT) + end))).toBe(true);
    expect(agent?.analyzer?.isWhole?.(Buffer.from(JSON.stringify(DOCUMENT).slice(0, -1)))).toBe(false);
  }
});

test("a file with a common name is identified by its directory, and the result says so", async () => {
  const lines = DOCUMENT.history.map(({ message: { role, content } }) => JSON.stringify({ role, content }));
  const path = ".local/share/talker/logs/calm-fox/conversation.jsonl";
  const { profile, doubts } = await recorded("talker", path, `${lines.join("\n")}\n`);
  expect(profile.transcript).toMatchObject({
    directory: ".local/share/talker/logs",
    place: "{session}/conversation.jsonl",
  });
  expect(doubts).toContainEqual({ kind: "session-guessed", key: "transcript.place", id: "calm-fox" });
  const { proofs } = await checkAgent("talker");
  // Lines without ids are cut at their offsets.
  expect(proofs.find(({ what }) => what === "cuts")).toMatchObject({ state: "proven" });
});

test("a directory with the agent's name in it does not tell the agent, and other sessions' prompts are not missed", async () => {
  const own = join(place.at("home"), ".talker/chats/one.jsonl");
  const turn = (session: string, file: string, prompt: string) => ({
    session_id: session,
    transcript_path: file,
    cwd: "/home/dev/talker/project",
    hook_event_name: "UserPromptSubmit",
    prompt,
  });
  const lines = [
    { role: "user", text: "Mine" },
    { role: "assistant", text: "Yes" },
  ];
  const { profile, doubts } = await recorded(
    "talker",
    ".talker/chats/one.jsonl",
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    {
      "UserPromptSubmit.1": turn("one", own, "Mine"),
      "UserPromptSubmit.2": turn("two", own.replace("one", "two"), "Another's"),
    },
  );
  const tests = profile.detection.score_rules.flatMap(({ path_exists }) => path_exists ?? []);
  expect(tests).toEqual([]);
  expect(doubts.filter(({ kind }) => kind === "prompts-differ")).toEqual([]);
});

test("a payload names a transcript that the profile leaves out: that is no problem of the payload", async () => {
  await recorded("talker", ".talker/chats/one.jsonl", '{"role":"user","text":"Mine"}\n', {
    UserPromptSubmit: {
      session_id: "one",
      transcript_path: join(place.at("home"), ".talker/chats/one.jsonl"),
      hook_event_name: "UserPromptSubmit",
      prompt: "Mine",
    },
  });
  const file = join(place.at("backtrail"), "config/agents/talker.json");
  const { transcript: _, ...profile } = await Bun.file(file).json();
  writeFileSync(file, JSON.stringify(profile));
  const { payloads } = await checkAgent("talker");
  expect(payloads.flatMap(({ problems }) => problems)).toEqual([]);
});
