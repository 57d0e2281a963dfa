import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextOf, toEnvelope } from "../../../src/agents/registry/normalize.ts";
import { droid, eventOf, payload, responder, transcript } from "./recorded.ts";

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** The path of a session whose files are these. */
function session(name: string | null, settings?: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), "droid-"));
  directories.push(directory);
  const path = join(directory, "session.jsonl");
  if (name !== null) writeFileSync(path, transcript(name));
  if (settings !== undefined) writeFileSync(join(directory, "session.settings.json"), JSON.stringify(settings));
  return path;
}

test("a session's start says why, and asks for the code to be kept: exec announces no prompt", () => {
  expect(eventOf(payload("SessionStart-startup"))).toMatchObject({
    type: "SessionStart",
    baseline: true,
    previousSessionId: null,
    metadata: { source: "startup" },
  });
  expect(eventOf(payload("SessionStart-resume"))?.metadata).toEqual({ source: "resume" });
});

test("a fork knows the session that it continues", () => {
  const from = (path: string) =>
    eventOf({ ...payload("SessionStart-resume"), transcript_path: path })?.previousSessionId;
  expect(from(session("exec-fork"))).toBe("dca26625-a32b-4ecf-9915-3a209b6d8502");
  expect(from(session("two-turns"))).toBeNull();
  expect(from("/dev/null")).toBeNull();
});

test("a payload names the file of variables for the agent's commands, and the session that it continues", () => {
  const raw: Record<string, unknown> = { ...payload("SessionStart-startup"), previous_session_id: "earlier" };
  const { profile } = droid.agent;
  const envelope = toEnvelope(profile, "session-start", raw);
  const env = { CLAUDE_ENV_FILE: "/another/file" };
  expect(contextOf(profile, envelope, { env, cwd: "/cwd" }).envFile).toBe(String(raw["CLAUDE_ENV_FILE"]));
  const unnamed = toEnvelope(profile, "session-start", {});
  expect(contextOf(profile, unnamed, { env, cwd: "/cwd" }).envFile).toBe("/another/file");
  expect(eventOf(raw)?.previousSessionId).toBe("earlier");
});

test("a turn: its prompt and its id", () => {
  expect(eventOf(payload("UserPromptSubmit"))).toMatchObject({
    type: "TurnStart",
    prompt: "Please do [[turn1]] now",
    metadata: { prompt_id: "1ad451ae-7f91-4ff7-9695-520023546cca" },
  });
  expect(eventOf(payload("Stop"))).toMatchObject({ type: "TurnEnd", response: null, metadata: {} });
});

test("the tokens so far are read beside the transcript, subagents' with them", () => {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheCreationTokens: 4, thinkingTokens: 9 };
  const tokens = (settings: unknown, name: string) =>
    eventOf({ ...payload(name), transcript_path: session(null, settings) })?.tokensSoFar;
  for (const name of ["SessionStart-startup", "UserPromptSubmit", "Stop", "Notification-idle_prompt"]) {
    expect(tokens({ tokenUsage: usage }, name)).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 });
  }
  const inclusive = { ...usage, outputTokens: 20 };
  expect(tokens({ tokenUsage: usage, inclusiveTokenUsage: inclusive }, "Stop")?.output).toBe(20);
  for (const damaged of [undefined, 3, [], { tokenUsage: "x" }]) expect(tokens(damaged, "Stop")).toBeUndefined();
  const odd = { tokenUsage: { inputTokens: -1, outputTokens: "2" } };
  expect(tokens(odd, "Stop")).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
});

test("a turn that is stopped while the model speaks ends with a notification; others mean nothing", () => {
  expect(eventOf(payload("Notification-idle_prompt"))).toMatchObject({
    type: "TurnEnd",
    metadata: { error: "interrupted" },
  });
  expect(eventOf(payload("Notification-permission_prompt"))).toBeNull();
});

test("tools: kinds, commands, files; there are no ids", () => {
  expect(eventOf(payload("PreToolUse-Execute"))?.tool).toEqual({
    kind: "shell",
    name: "Execute",
    id: null,
    command: "echo hi > b.txt",
    paths: [],
  });
  for (const name of ["Create", "Edit"]) {
    expect(eventOf(payload(`PostToolUse-${name}`))).toMatchObject({
      type: "ToolEnd",
      tool: { kind: "write", paths: ["/home/dev/project/a.txt"] },
    });
  }
  expect(eventOf(payload("PreToolUse-Task"))).toMatchObject({ type: "ToolStart", tool: { kind: "task" } });
  expect(eventOf(payload("PostToolUse-TodoWrite"))?.tool?.kind).toBe("todo");
});

test("a patch names its files itself", () => {
  const patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+*** Add File: no\n*** End Patch";
  const raw = { ...payload("PostToolUse-Edit"), tool_name: "ApplyPatch" };
  expect(eventOf({ ...raw, tool_input: { input: patch } })?.tool?.paths).toEqual(["a.txt", "b.txt"]);
  for (const damaged of [{ input: 3 }, null, "x"])
    expect(eventOf({ ...raw, tool_input: damaged })?.tool?.paths).toEqual([]);
});

test("ends and compactions say why", () => {
  expect(eventOf(payload("SessionEnd"))).toMatchObject({ type: "SessionEnd", metadata: { reason: "other" } });
  expect(eventOf(payload("PreCompact"))).toMatchObject({ type: "Compaction", metadata: { trigger: "auto" } });
});

test("Droid shows the message to the user, in one line", () => {
  const envelope = toEnvelope(droid.agent.profile, "session-start", payload("SessionStart-startup"));
  expect(JSON.parse(responder.notice(envelope, "one\ntwo"))).toEqual({ systemMessage: "one two" });
});
