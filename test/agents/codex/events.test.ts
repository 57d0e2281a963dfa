import { afterEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRollout, isUsersThread, parentThread } from "../../../src/agents/builtin/codex/paths.ts";
import { toEnvelope } from "../../../src/agents/registry/normalize.ts";
import { codex, eventOf, payload, responder, transcript } from "./recorded.ts";

const ROOT = "01a1e25e-370d-7130-84d4-75c8e0a4df7f";
const SUBAGENT = "01a1e25e-38b4-7693-8bb3-7a1d256ad0e3";
const rollout = (time: string, thread: string) =>
  `/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T${time}-${thread}.jsonl`;

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

test("a session's start says why, and which thread it was forked from is read from its rollout", () => {
  expect(eventOf(payload("SessionStart-startup"))).toMatchObject({
    type: "SessionStart",
    model: "gpt-6-sol",
    previousSessionId: null,
    metadata: { source: "startup" },
  });
  expect(eventOf(payload("SessionStart-compact"))?.metadata).toEqual({ source: "compact" });
  const { path } = home("fork", "2026/11/16");
  expect(eventOf({ ...payload("SessionStart-fork"), transcript_path: path })).toMatchObject({
    previousSessionId: "01a1e25d-d997-7812-86ef-732b92154785",
    metadata: { source: "fork" },
  });
});

test("a turn: its prompt, its id, its last words", () => {
  expect(eventOf(payload("UserPromptSubmit"))).toMatchObject({
    type: "TurnStart",
    prompt: "TURN2 please",
    metadata: { prompt_id: "01a1e25d-dd63-76b2-b5e5-6152661e3c16" },
  });
  const end = eventOf(payload("Stop"));
  expect(end).toMatchObject({ type: "TurnEnd", response: "Edited a.txt and wrote b.txt.", prompt: null });
  expect(end?.metadata).not.toHaveProperty("error");
});

test("an interrupted turn ends, marked as interrupted", () => {
  expect(eventOf(payload("Interrupt"))).toMatchObject({ type: "TurnEnd", metadata: { error: "interrupted" } });
});

test("a conversation that is kept nowhere is still recorded", () => {
  expect(eventOf(payload("Stop-ephemeral"))).toMatchObject({ type: "TurnEnd", transcriptPath: null });
});

test("a patch names its files, a command is a command", () => {
  expect(eventOf(payload("PostToolUse-apply_patch"))?.tool).toMatchObject({ kind: "write", paths: ["a.txt"] });
  expect(eventOf(payload("PreToolUse-Bash"))).toMatchObject({
    type: "ToolStart",
    tool: { kind: "shell", command: "echo hi > b.txt", paths: [] },
    subagent: null,
  });
  const command =
    "*** Begin Patch\n*** Update File: a\n*** Move to: dir/b c\n@@\n-*** Add File: no\n*** Delete File: d\n";
  const patched = eventOf({ ...payload("PostToolUse-apply_patch"), tool_input: { command } });
  expect(patched?.tool?.paths).toEqual(["a", "dir/b c", "d"]);
});

test("what a subagent shall do is announced by the call that starts it", () => {
  expect(eventOf(payload("PreToolUse-spawn_agent"))).toMatchObject({
    type: "ToolStart",
    tool: { kind: "task", id: "call_fake_34_0" },
    subagent: { type: "default", description: "sub", prompt: "hello sub", toolUseId: "call_fake_34_0" },
  });
});

test("hooks inside a subagent belong to its session, and never take its rollout for the session's", () => {
  expect(eventOf(payload("SubagentStart"))).toMatchObject({
    type: "SubagentStart",
    sessionId: ROOT,
    transcriptPath: null,
    subagent: { id: SUBAGENT, type: "default", transcriptPath: rollout("03-19-48", SUBAGENT) },
  });
  expect(eventOf(payload("SubagentStop"))).toMatchObject({
    type: "SubagentEnd",
    sessionId: ROOT,
    transcriptPath: rollout("03-19-47", ROOT),
    response: "OK.",
    subagent: { id: SUBAGENT, transcriptPath: rollout("03-19-48", SUBAGENT) },
  });
  const inside = { agent_id: SUBAGENT, agent_type: "default", transcript_path: rollout("03-19-48", SUBAGENT) };
  expect(eventOf({ ...payload("PostToolUse-apply_patch"), ...inside })).toMatchObject({
    type: "ToolEnd",
    transcriptPath: null,
    tool: { paths: ["a.txt"] },
    subagent: { id: SUBAGENT },
  });
  for (const name of ["Stop", "UserPromptSubmit", "PreCompact", "SessionStart-startup", "Interrupt"]) {
    expect(eventOf({ ...payload(name), ...inside })).toBeNull();
  }
});

test("what has no meaning for the lifecycle is acknowledged and ignored", () => {
  for (const name of [
    "PreModelRequest",
    "PreModelRequest-inSubagent",
    "PostModelRequest",
    "PermissionRequest",
    "PostCompact",
  ]) {
    expect(eventOf(payload(name))).toBeNull();
  }
  expect(eventOf(payload("PreCompact"))).toMatchObject({ type: "Compaction", metadata: { trigger: "auto" } });
  expect(eventOf(payload("SessionEnd"))).toMatchObject({ type: "SessionEnd", metadata: { reason: "other" } });
});

test("`notify` counts for threads that a user began, wherever Codex lives", () => {
  const before = process.env["CODEX_HOME"];
  const { directory, path } = home("two-turns", "2026/11/16");
  try {
    process.env["CODEX_HOME"] = directory;
    expect(eventOf(payload("notify"))).toMatchObject({
      type: "TurnEnd",
      sessionId: "01a1e25d-d997-7812-86ef-732b92154785",
      transcriptPath: path,
      response: "Edited a.txt and wrote b.txt.",
    });
  } finally {
    if (before === undefined) delete process.env["CODEX_HOME"];
    else process.env["CODEX_HOME"] = before;
  }
});

test("`notify` without a rollout records the code; a subagent's rollout keeps it out", () => {
  const before = process.env["CODEX_HOME"];
  try {
    process.env["CODEX_HOME"] = join(home("two-turns", "2026/11/16").directory, "nowhere");
    expect(eventOf(payload("notify-inSubagent"))).toMatchObject({ type: "TurnEnd", transcriptPath: null });
    // A thread of Codex's own, which finds a title, has none while the user's have.
    process.env["CODEX_HOME"] = home("two-turns", "2026/11/16").directory;
    expect(eventOf(payload("notify-inSubagent"))).toBeNull();
    process.env["CODEX_HOME"] = home("subagent", "2026/11/16").directory;
    expect(eventOf({ ...payload("notify-inSubagent"), "thread-id": SUBAGENT })).toBeNull();
  } finally {
    if (before === undefined) delete process.env["CODEX_HOME"];
    else process.env["CODEX_HOME"] = before;
  }
});

test("a rollout is found by its thread; a subagent's is no user's", () => {
  const { directory, path } = home("subagent", "2026/01/02");
  expect(findRollout(SUBAGENT, join(directory, "sessions"))).toBe(path);
  expect(findRollout("../../x", join(directory, "sessions"))).toBeNull();
  expect(findRollout(ROOT, join(directory, "sessions"))).toBeNull();
  expect(findRollout(SUBAGENT, join(directory, "nowhere"))).toBeNull();
  expect(isUsersThread(path)).toBe(false);
  expect(isUsersThread(directory)).toBe(false);
  expect(parentThread(path)).toBeNull();
  expect(isUsersThread(home("parent", "2026/01/02").path)).toBe(true);
});

test("older rollouts tell a subagent's by its source alone", () => {
  const { path } = home("parent", "2026/01/02");
  const meta = (source: unknown) =>
    writeFileSync(path, `${JSON.stringify({ type: "session_meta", payload: { id: ROOT, source } })}\n`);
  meta("cli");
  expect(isUsersThread(path)).toBe(true);
  meta({ subagent: "review" });
  expect(isUsersThread(path)).toBe(false);
});

test("a pipe in the place of a rollout is not waited for", () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-home-"));
  directories.push(directory);
  const path = join(directory, "rollout-2026-11-16T03-19-23-x.jsonl");
  execFileSync("mkfifo", [path]);
  expect(eventOf({ ...payload("SessionStart-fork"), transcript_path: path })).toMatchObject({
    previousSessionId: null,
  });
});

test("a notice is shown to the user, not to the model", () => {
  const envelope = toEnvelope(codex.agent.profile, "session-start", payload("SessionStart-startup"));
  expect(JSON.parse(responder.notice(envelope, "two\nlines"))).toEqual({ systemMessage: "two lines" });
});

/** A home of Codex's with one conversation in it. */
function home(name: string, day: string): { directory: string; path: string } {
  const directory = mkdtempSync(join(tmpdir(), "codex-home-"));
  directories.push(directory);
  const bytes = transcript(name);
  const thread = /"id":"([0-9a-f-]{36})"/.exec(bytes.toString("utf8", 0, 400))?.[1];
  const path = join(directory, "sessions", day, `rollout-2026-11-16T03-19-23-${thread}.jsonl`);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, bytes);
  return { directory, path };
}
