import { expect, test } from "bun:test";
import { toEnvelope } from "../../../src/agents/registry/normalize.ts";
import type { EventType } from "../../../src/model/event.ts";
import { haveMeanings } from "../meanings.ts";
import { eventOf, openCode, payload, responder } from "./recorded.ts";

const SESSION = "ses_e16fb61ceffeMnH8aMVcBOAJrO";
const CHILD = "ses_e16faec36ffexi6iSphZSPD9mA";
const STORE = "/home/dev/proj/.git/backtrail/opencode";

const MEANINGS: [beginning: string, type: EventType][] = [
  ["session.created", "SessionStart"],
  ["session.deleted", "SessionEnd"],
  ["dispose", "SessionEnd"],
  ["chat.message", "TurnStart"],
  ["session.idle", "TurnEnd"],
  ["experimental.session.compacting", "Compaction"],
  ["subagent.message", "SubagentStart"],
  ["subagent.idle", "SubagentEnd"],
  ["tool.execute.before", "ToolStart"],
  ["tool.execute.after", "ToolEnd"],
];

haveMeanings(openCode, MEANINGS, (event) => {
  expect(event).toMatchObject({ sessionId: SESSION, transcriptPath: `${STORE}/${SESSION}.jsonl` });
});

test("a prompt comes with its model and its message's id", () => {
  const event = eventOf(payload("chat.message"));
  expect(event?.prompt).toBe("Say hello in a file [[first]]");
  expect(event?.model).toBe("model-1");
  expect(event?.metadata).toEqual({ prompt_id: "msg_1e9049f6b001EIbfshRtRzAqHF" });
});

test("a prompt of nothing but space is none, and its last newline is not part of it", () => {
  expect(eventOf({ ...payload("chat.message"), prompt: " \n" })?.prompt).toBeNull();
  expect(eventOf({ ...payload("chat.message"), prompt: "Hello\n" })?.prompt).toBe("Hello");
});

test("a turn that was interrupted says so", () => {
  expect(eventOf(payload("session.idle"))?.metadata).toEqual({});
  expect(eventOf(payload("session.idle-interrupted"))?.metadata).toEqual({ error: "MessageAbortedError" });
});

test("tools are known by their kind, commands and files", () => {
  const tool = (name: string) => eventOf(payload(`tool.execute.${name}`))?.tool;
  const shell = { kind: "shell", name: "bash", id: "call_first_1_2", command: "printf x > made.txt", paths: [] };
  expect(tool("before-bash")).toEqual(shell as typeof shell & { kind: "shell" });
  expect(tool("after-write")).toMatchObject({ kind: "write", paths: ["/home/dev/proj/greeting.txt"] });
  expect(tool("after-todowrite")?.kind).toBe("todo");
  expect(tool("before-task")?.kind).toBe("task");
});

test("a subagent is known with its task, its transcript and the tool use that started it", () => {
  expect(eventOf(payload("subagent.message"))?.subagent).toEqual({
    id: CHILD,
    type: "general",
    description: "Write the helper (@general subagent)",
    prompt: "[[subtask]] Write helper.txt",
    transcriptPath: `${STORE}/${CHILD}.jsonl`,
    toolUseId: "call_second_7_1",
  });
  expect(eventOf(payload("tool.execute.after-write-subagent"))?.subagent?.id).toBe(CHILD);
  expect(eventOf(payload("tool.execute.after-write"))?.subagent).toBeNull();
  expect(eventOf({ ...payload("subagent.idle"), subagent: "?" })).toBeNull();
});

test("a notice is one line for the plugin to show", () => {
  const envelope = toEnvelope(openCode.agent.profile, "session-start", payload("session.created"));
  expect(JSON.parse(responder.notice(envelope, "one\ntwo"))).toEqual({ notice: "one two" });
});
