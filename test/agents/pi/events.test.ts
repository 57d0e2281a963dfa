import { expect, test } from "bun:test";
import { toEnvelope } from "../../../src/agents/registry/normalize.ts";
import type { EventType } from "../../../src/model/event.ts";
import { haveMeanings } from "../meanings.ts";
import { eventOf, PATH, payload, pi, responder, SESSION } from "./recorded.ts";

const MEANINGS: [beginning: string, type: EventType][] = [
  ["session_start", "SessionStart"],
  ["session_shutdown", "SessionEnd"],
  ["before_agent_start", "TurnStart"],
  ["agent_settled", "TurnEnd"],
  ["agent_end", "TurnEnd"],
  ["session_before_compact", "Compaction"],
  ["subagent_call", "SubagentStart"],
  ["subagent_result", "SubagentEnd"],
  ["tool_call", "ToolStart"],
  ["tool_result", "ToolEnd"],
];

haveMeanings(pi, MEANINGS, (event) => {
  expect(event.metadata["leaf"]).toMatch(/^[0-9a-f]{8}$/);
});

test("a prompt comes with its session, its model and the leaf that it follows", () => {
  expect(eventOf(payload("before_agent_start"))).toMatchObject({
    sessionId: SESSION,
    transcriptPath: PATH,
    prompt: "Say hello in a file [[first]]",
    model: "model-1",
    metadata: { leaf: "f9b3b9a5" },
  });
  expect(eventOf(payload("before_agent_start-branched"))?.metadata).toEqual({ leaf: "9cd15bcd" });
});

test("a turn that an extension of Pi's began has no prompt, and a session without entries no leaf", () => {
  const { prompt: _, ...custom } = payload("before_agent_start");
  expect(eventOf({ ...custom, leafId: null })).toMatchObject({ type: "TurnStart", prompt: null, metadata: {} });
});

test("a turn that was interrupted or failed says so", () => {
  expect(eventOf(payload("agent_settled"))?.metadata["error"]).toBeUndefined();
  expect(eventOf(payload("agent_settled-aborted"))?.metadata["error"]).toBe("aborted");
  expect(eventOf({ ...payload("agent_settled"), stopReason: "error" })?.metadata["error"]).toBe("error");
});

test("a fork names the session that it continues, for any form of id", () => {
  expect(eventOf(payload("session_start"))?.previousSessionId).toBeNull();
  expect(eventOf(payload("session_start-fork"))).toMatchObject({
    previousSessionId: SESSION,
    metadata: { source: "fork" },
  });
  const parentSession = "/home/dev/s/2026-11-17T10-42-11-244Z_my-own.id_1.jsonl";
  expect(eventOf({ ...payload("session_start"), parentSession })?.previousSessionId).toBe("my-own.id_1");
  expect(eventOf({ ...payload("session_start"), parentSession: "/home/dev/other" })?.previousSessionId).toBeNull();
});

test("tools are known by their kind, commands and files", () => {
  const tool = (name: string) => eventOf(payload(name))?.tool;
  expect(tool("tool_call-bash")).toMatchObject({ kind: "shell", name: "bash", command: "printf x > made.txt" });
  expect(tool("tool_result-write")).toMatchObject({ kind: "write", paths: ["/home/dev/proj/greeting.txt"] });
  expect(tool("tool_result-edit")).toMatchObject({ kind: "write", paths: ["greeting.txt"] });
});

test("a subagent is known by the tool use that started it", () => {
  expect(eventOf(payload("subagent_result"))?.subagent).toEqual({
    id: "call_second_7_1",
    type: "worker",
    description: null,
    prompt: "[[subtask]] Write helper.txt",
    transcriptPath: null,
    toolUseId: "call_second_7_1",
  });
  expect(eventOf({ ...payload("subagent_call"), subagent: "?" })).toBeNull();
});

test("a notice is one line for the extension to show", () => {
  const envelope = toEnvelope(pi.agent.profile, "session-start", payload("session_start"));
  expect(JSON.parse(responder.notice(envelope, "one\ntwo"))).toEqual({ notice: "one two" });
});
