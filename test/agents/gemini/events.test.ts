import { expect, test } from "bun:test";
import type { EventType } from "../../../src/model/event.ts";
import { everyHookIsRecorded, haveMeanings } from "../meanings.ts";
import { eventOf, gemini, payload, responder } from "./recorded.ts";

/** By the beginning of the payload's name; everything else is acknowledged and ignored. */
const MEANINGS: [beginning: string, type: EventType][] = [
  ["SessionStart-", "SessionStart"],
  ["SessionEnd-", "SessionEnd"],
  ["BeforeAgent", "TurnStart"],
  ["AfterAgent", "TurnEnd"],
  ["BeforeTool-invoke_agent", "SubagentStart"],
  ["AfterTool-invoke_agent", "SubagentEnd"],
  ["BeforeTool-", "ToolStart"],
  ["AfterTool-", "ToolEnd"],
  ["PreCompress-manual", "Compaction"],
];

haveMeanings(gemini, MEANINGS, (event, raw) => {
  expect(event.sessionId).toBe(raw["session_id"] as string);
  expect(event.timestamp).toBe(raw["timestamp"] as string);
});
everyHookIsRecorded(gemini);

test("a compression is one only where the user asked for it", () => {
  expect(eventOf(payload("PreCompress-auto"))).toBeNull();
  expect(eventOf({ ...payload("PreCompress-manual"), trigger: undefined })).toBeNull();
  expect(eventOf(payload("PreCompress-manual"))?.metadata).toEqual({ trigger: "manual" });
  // Told before every call to the model: it isn't even asked for.
  expect(gemini.agent.profile.hooks?.install["PreCompress"]?.matcher).toBe("manual");
});

test("a resumed session's first word about its transcript is not taken", () => {
  expect(eventOf(payload("SessionStart-resume"))).toMatchObject({
    transcriptPath: null,
    metadata: { source: "resume" },
  });
  for (const name of ["SessionStart-startup", "SessionStart-clear", "BeforeAgent", "AfterAgent"]) {
    expect(eventOf(payload(name))?.transcriptPath).toBe(payload(name)["transcript_path"] as string);
  }
});

test("a prompt starts a turn, an answer ends it", () => {
  expect(eventOf(payload("BeforeAgent"))).toMatchObject({ prompt: "TURN1 please", response: null });
  expect(eventOf(payload("AfterAgent"))).toMatchObject({ response: null, prompt: null });
});

test("the payload's answer, pieces with gaps between them, counts only without a transcript", () => {
  const alone = { ...payload("AfterAgent"), transcript_path: "" };
  expect(eventOf(alone)?.response).toBe("I will create a.txt. \nCreated a.txt.");
  expect(eventOf({ ...alone, prompt_response: "[no response text]" })?.response).toBeNull();
});

test("files that a prompt names are not the prompt", () => {
  const prompt = "Look at @a.txt\n--- Content from referenced files ---\nContent from @a.txt:\nhello\n";
  expect(eventOf({ ...payload("BeforeAgent"), prompt })?.prompt).toBe("Look at @a.txt");
  expect(eventOf({ ...payload("BeforeAgent"), prompt: " \n" })?.prompt).toBeNull();
});

test("tools are reported by kind, with what they write or run", () => {
  expect(eventOf(payload("BeforeTool-run_shell_command"))?.tool).toEqual({
    kind: "shell",
    name: "run_shell_command",
    id: null,
    command: "echo hi > b.txt",
    paths: [],
  });
  expect(eventOf(payload("AfterTool-write_file"))?.tool).toMatchObject({
    kind: "write",
    paths: ["/home/dev/main/proj/a.txt", "a.txt"],
  });
  expect(eventOf({ ...payload("AfterTool-read_file"), tool_name: "constructor" })?.tool).toMatchObject({
    kind: "other",
    paths: [],
  });
});

test("a subagent begins and ends with the tool that calls it", () => {
  const start = eventOf(payload("BeforeTool-invoke_agent"));
  const end = eventOf(payload("AfterTool-invoke_agent"));
  expect(start?.subagent).toMatchObject({
    type: "generalist",
    prompt: "[[subtask]] Write helper.txt",
    transcriptPath: null,
  });
  expect(start?.tool).toBeNull();
  expect(end?.subagent).toEqual({
    ...start?.subagent,
    transcriptPath: expect.stringMatching(
      /\/chats\/03de4c9f-5f9a-460c-b94d-5f30cf6d84a7\/40eab004-f882-4d4a-b1b0-737957f41966\.jsonl$/,
    ),
  } as never);
  const other = { ...payload("BeforeTool-invoke_agent"), tool_input: { agent_name: "generalist", prompt: "else" } };
  expect(eventOf(other)?.subagent?.id).not.toBe(start?.subagent?.id ?? "");
});

test("a subagent's transcript is never outside of its session's folder", () => {
  const raw = payload("AfterTool-invoke_agent");
  const named = (id: unknown) => ({ ...raw, tool_response: { returnDisplay: { recentActivity: [{ id }, null] } } });
  for (const id of ["../../x#0-0", "#0-0", "a/b#0", 7, null]) {
    expect(eventOf(named(id))?.subagent?.transcriptPath).toBeNull();
  }
  const event = eventOf({ ...named("abc#0-0"), session_id: "../.." });
  expect(event?.subagent?.transcriptPath).toBeNull();
  expect(eventOf({ ...raw, tool_response: "none" })?.subagent?.transcriptPath).toBeNull();
});

test("a call without an agent's name is a plain tool use", () => {
  expect(eventOf({ ...payload("BeforeTool-invoke_agent"), tool_input: "?" })).toMatchObject({
    type: "ToolStart",
    tool: { kind: "task" },
    subagent: null,
  });
});

test("another tool that names an agent is not a subagent", () => {
  const raw = { ...payload("BeforeTool-invoke_agent"), tool_name: "mcp_crew_ask" };
  expect(eventOf(raw)).toMatchObject({ type: "ToolStart", tool: { kind: "other" }, subagent: null });
});

test("a notice goes to the user, never to the model", () => {
  const reply = JSON.parse(responder.notice({} as never, "Backtrail is\nrecording \u001b[31mred")) as unknown;
  expect(reply).toEqual({ systemMessage: "Backtrail is recording red" });
});
