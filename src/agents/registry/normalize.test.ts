import { expect, test } from "bun:test";
import fc from "fast-check";
import { ownHome } from "../../../test/support/own-home.ts";
import type { Profile } from "../contract/profile.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "./normalize.ts";
import { getAgent, unknownAgent } from "./registry.ts";

/** Failures are logged: into a directory of the test's own. */
const _home = ownHome();

const claude = await claudeCode();
const outside = { env: {}, cwd: "/home/dev/project" };

test("the payload is standard input", () => {
  expect(readPayload('{"a":1}', ["hooks", "x", '{"b":2}'])).toEqual({ a: 1 });
  expect(readPayload('\uFEFF {"a":1}\n', [])).toEqual({ a: 1 });
});

test("or the last argument, when standard input is empty and it looks like JSON", () => {
  expect(readPayload(" \n", ["hooks", "codex", "notify", '{"type":"agent-turn-complete"}'])).toEqual({
    type: "agent-turn-complete",
  });
  expect(readPayload("", ["hooks", "claude-code", "stop"])).toEqual({});
  expect(readPayload("", [])).toEqual({});
});

test("input that is not a JSON object becomes an empty payload", () => {
  for (const text of ["nonsense", "{", "[1,2]", "null", '"text"', "{}x", "\0", '{"a":1}{"b":2}']) {
    expect(readPayload(text, [])).toEqual({});
  }
});

test("the verb names the event where the payload doesn't", () => {
  const envelope = toEnvelope(claude.profile, "user-prompt-submit", { session_id: "s", prompt: "hello" });
  expect(envelope.event).toBe("user-prompt-submit");
  const event = toEvent(claude, envelope, contextOf(claude.profile, envelope, outside));
  expect(event).toMatchObject({ type: "TurnStart", prompt: "hello", sessionId: "s" });
});

test("camelCase and kebab-case payloads mean the same", () => {
  const payloads = [
    { session_id: "s", hook_event_name: "UserPromptSubmit", transcript_path: "/t.jsonl", prompt: "p" },
    { sessionId: "s", hookEventName: "UserPromptSubmit", transcriptPath: "/t.jsonl", prompt: "p" },
    { "session-id": "s", "hook-event-name": "user-prompt-submit", "transcript-path": "/t.jsonl", prompt: "p" },
  ];
  for (const raw of payloads) {
    const envelope = toEnvelope(claude.profile, "", raw);
    const event = toEvent(claude, envelope, contextOf(claude.profile, envelope, outside));
    expect(event).toMatchObject({ type: "TurnStart", sessionId: "s", transcriptPath: "/t.jsonl", prompt: "p" });
  }
});

test("configuration counts before the payload, the payload before the environment", () => {
  const env = {
    CLAUDE_PROJECT_DIR: "/env/project",
    CLAUDE_CODE_SESSION_ID: "env-session",
    CLAUDE_ENV_FILE: "/env/file",
    CLAUDE_PID: "4711",
  };
  const nothing = toEnvelope(claude.profile, "stop", {});
  expect(contextOf(claude.profile, nothing, { env, cwd: "/cwd" })).toEqual({
    agent: "claude-code",
    cwd: "/cwd",
    projectRoot: "/env/project",
    transcriptPath: null,
    sessionId: "env-session",
    envFile: "/env/file",
    pid: 4711,
  });
  const given = toEnvelope(claude.profile, "stop", { session_id: "s", cwd: "/payload", transcript_path: "t.jsonl" });
  const forced = { projectRoot: "/forced", transcriptPath: "/forced.jsonl" };
  expect(contextOf(claude.profile, given, { env, cwd: "/cwd" })).toMatchObject({
    cwd: "/payload",
    sessionId: "s",
    transcriptPath: "/payload/t.jsonl",
  });
  expect(contextOf(claude.profile, given, { env, cwd: "/cwd", forced })).toMatchObject({
    projectRoot: "/forced",
    transcriptPath: "/forced.jsonl",
  });
});

test("a path that can't be one is none", () => {
  const envelope = toEnvelope(claude.profile, "stop", { session_id: "s", transcript_path: "/a\0b", cwd: "\0" });
  const context = contextOf(claude.profile, envelope, { env: { CLAUDE_PID: "-3" }, cwd: "/cwd" });
  expect(context).toMatchObject({ transcriptPath: null, cwd: "/cwd", pid: null });
});

test("an event without a session is none", () => {
  const envelope = toEnvelope(claude.profile, "stop", {});
  expect(toEvent(claude, envelope, contextOf(claude.profile, envelope, outside))).toBeNull();
});

test("an unknown agent is recorded by the names that most agents use", () => {
  const agent = unknownAgent("somebody");
  const envelope = toEnvelope(agent.profile, "stop", {});
  const event = toEvent(agent, envelope, contextOf(agent.profile, envelope, outside));
  expect(event).toMatchObject({ type: "TurnEnd", sessionId: "unknown", transcriptPath: null });
});

test("an adapter that throws gives no event and no failure", () => {
  const failing = {
    profile: claude.profile,
    toEvent: () => {
      throw new Error("broken");
    },
  };
  const envelope = toEnvelope(claude.profile, "stop", {});
  expect(toEvent(failing, envelope, contextOf(claude.profile, envelope, outside))).toBeNull();
});

test("nothing that comes in makes it throw", () => {
  const agents = [claude, unknownAgent()];
  const nearly = fc.record(
    {
      hook_event_name: fc.oneof(fc.constantFrom("Stop", "SubagentStop", "PreToolUse", "SessionStart"), fc.jsonValue()),
      session_id: fc.oneof(fc.string(), fc.jsonValue()),
      transcript_path: fc.oneof(fc.string(), fc.jsonValue()),
      tool_name: fc.jsonValue(),
      tool_input: fc.jsonValue(),
      agent_id: fc.oneof(fc.string(), fc.jsonValue()),
      prompt: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const input = fc.oneof(
    fc.string(),
    fc.json(),
    nearly.map((payload) => JSON.stringify(payload)),
  );
  fc.assert(
    fc.property(input, fc.string(), (text, verb) => {
      const raw = readPayload(text, [text]);
      for (const agent of agents) {
        const envelope = toEnvelope(agent.profile, verb, raw);
        toEvent(agent, envelope, contextOf(agent.profile, envelope, outside));
      }
    }),
    { numRuns: 500 },
  );
});

async function claudeCode() {
  const agent = await getAgent("claude-code");
  if (!agent) throw new Error("no Claude Code");
  const profile: Profile = agent.profile;
  return { ...agent, profile };
}
