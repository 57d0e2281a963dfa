import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventType } from "../../../src/model/event.ts";
import { everyHookIsRecorded, haveMeanings } from "../meanings.ts";
import { claude, eventOf, payload, responder, transcript } from "./recorded.ts";

const directory = mkdtempSync(join(tmpdir(), "events-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** By the beginning of the payload's name; everything else is acknowledged and ignored. */
const MEANINGS: [beginning: string, type: EventType][] = [
  ["SessionStart-", "SessionStart"],
  ["SessionEnd-", "SessionEnd"],
  ["UserPromptSubmit", "TurnStart"],
  ["Stop", "TurnEnd"],
  ["PreCompact", "Compaction"],
  ["SubagentStart", "SubagentStart"],
  ["SubagentStop", "SubagentEnd"],
  ["PreToolUse-", "ToolStart"],
  ["PostToolUse", "ToolEnd"],
];

haveMeanings(claude, MEANINGS, (event, raw) => {
  expect(event.sessionId).toBe(raw["session_id"] as string);
  expect(event.transcriptPath).toBe(raw["transcript_path"] as string);
});
everyHookIsRecorded(claude);

test("a prompt starts a turn, the last words end it", () => {
  expect(eventOf(payload("UserPromptSubmit"))).toMatchObject({ prompt: "Please do [[turn1]] now", response: null });
  expect(eventOf(payload("Stop"))).toMatchObject({ response: "Done: wrote a.txt.", prompt: null });
  expect(eventOf(payload("StopFailure"))).toMatchObject({
    response: "API Error: 400 scripted bad request",
    metadata: { error: "unknown" },
  });
});

test("a session says how it began and ended", () => {
  for (const source of ["startup", "resume", "fork", "clear", "compact"]) {
    expect(eventOf(payload(`SessionStart-${source}`))?.metadata).toEqual({ source });
  }
  expect(eventOf(payload("SessionStart-compact"))?.model).toBe("claude-opus-5-5");
  expect(eventOf(payload("SessionEnd-clear"))?.metadata).toEqual({ reason: "clear" });
});

test("tools are reported by kind, with what they write or run", () => {
  expect(eventOf(payload("PreToolUse-Bash"))?.tool).toEqual({
    kind: "shell",
    name: "Bash",
    id: "toolu_b1_1_31",
    command: "echo hi > b.txt",
    paths: [],
  });
  expect(eventOf(payload("PostToolUse-Edit"))?.tool).toMatchObject({
    kind: "write",
    paths: ["/home/dev/rerun/w-head/proj/a.txt"],
  });
  expect(eventOf(payload("PreToolUse-Agent"))).toMatchObject({
    tool: { kind: "task", id: "toolu_ba_1_31" },
    subagent: { type: "general-purpose", description: "Bg task", toolUseId: "toolu_ba_1_31" },
  });
  // It was only launched: its own end is told by itself.
  expect(eventOf(payload("PostToolUse-Agent"))).toMatchObject({ tool: { kind: "other" }, subagent: null });
  expect(eventOf(payload("PostToolUse-TodoWrite"))?.tool?.kind).toBe("todo");
  const unheard = { ...payload("PreToolUse-Bash"), tool_name: "constructor" };
  expect(eventOf(unheard)?.tool).toMatchObject({ kind: "other", command: null });
});

test("a tool inside a subagent names it and its transcript", () => {
  expect(eventOf(payload("PostToolUse-Write-inSubagent"))?.subagent).toMatchObject({
    id: "abbba3b05d52ac0db",
    type: "general-purpose",
    transcriptPath: expect.stringMatching(/43721ea6[^/]*\/subagents\/agent-abbba3b05d52ac0db\.jsonl$/),
  });
  const hostile = { ...payload("PostToolUse-Write-inSubagent"), agent_id: "../../x" };
  expect(eventOf(hostile)?.subagent?.transcriptPath).toBeNull();
});

test("the end of a subagent is completed from its own files", () => {
  const path = join(directory, "agent-abbba3b05d52ac0db.jsonl");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, transcript("subagent"));
  writeFileSync(
    join(directory, "agent-abbba3b05d52ac0db.meta.json"),
    JSON.stringify({ agentType: "general-purpose", description: "Sub task", toolUseId: "toolu_a1_2_37" }),
  );
  const event = eventOf({ ...payload("SubagentStop-inSubagent"), agent_transcript_path: path });
  expect(event).toMatchObject({
    response: "SUB REPORT: c.txt created.",
    subagent: {
      type: "general-purpose",
      description: "Sub task",
      toolUseId: "toolu_a1_2_37",
      prompt: "[[sub]] SUBAGENT-TASK: create c.txt and report.",
    },
  });
});

test("the subagent of a compaction is ignored", () => {
  const nobodys = { ...payload("SubagentStop-inSubagent"), agent_type: "" };
  expect(eventOf(nobodys)).toBeNull();
  const path = join(directory, "agent-real.jsonl");
  writeFileSync(path, transcript("subagent"));
  expect(eventOf({ ...nobodys, agent_transcript_path: path })?.type).toBe("SubagentEnd");
});

test("prompts that machines and commands write are described in words", () => {
  const prompt = (text: string) => eventOf({ ...payload("UserPromptSubmit"), prompt: text })?.prompt;
  expect(prompt('<task-notification>\n<summary>Agent "Sub" finished</summary>\n</task-notification>')).toBe(
    '(background) Agent "Sub" finished',
  );
  expect(prompt("<task-notification>")).toBe("(background) a task finished");
  expect(prompt("/hello world")).toBe("/hello world");
  expect(prompt("  ")).toBeNull();
});

test("a notice goes to the user, never to the model", () => {
  const reply = JSON.parse(responder.notice({} as never, "Backtrail is\nrecording \u001b[31mred")) as unknown;
  expect(reply).toEqual({ systemMessage: "Backtrail is recording red" });
});
