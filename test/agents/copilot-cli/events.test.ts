import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { actualAgent } from "../../../src/agents/registry/hook-origin.ts";
import { requireAgent } from "../../../src/agents/registry/registry.ts";
import { copilot, eventOf, hookFile, payload } from "./recorded.ts";

const SESSION = "34b0095b-504f-436b-8ce5-8b74058fe603";
const SUBAGENT = "4b7c944f-3047-4382-b497-28348f6ea323";

let home: string;
const before = process.env["COPILOT_HOME"];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "copilot-"));
  process.env["COPILOT_HOME"] = home;
});
afterEach(() => {
  if (before === undefined) delete process.env["COPILOT_HOME"];
  else process.env["COPILOT_HOME"] = before;
  rmSync(home, { recursive: true, force: true });
});

const transcriptOf = (session: string) => join(home, "session-state", session, "events.jsonl");

test("every event of a session knows its transcript, which most payloads don't name", () => {
  for (const name of ["sessionStart", "userPromptSubmitted", "errorOccurred", "sessionEnd", "preToolUse.bash"]) {
    const session = String(payload(name)["sessionId"]);
    expect(eventOf(name)?.transcriptPath).toBe(transcriptOf(session));
  }
  expect(eventOf("agentStop")?.transcriptPath).toBe(`/home/dev/.copilot/session-state/${SESSION}/events.jsonl`);
  expect(eventOf("sessionStart", { sessionId: "../../etc" })?.transcriptPath).toBeNull();
});

test("a session and its turns", () => {
  expect(eventOf("sessionStart")).toMatchObject({
    type: "SessionStart",
    timestamp: "2026-11-16T03:00:55.499Z",
    metadata: { source: "new" },
  });
  expect(eventOf("sessionStart.resume")?.metadata).toEqual({ source: "resume" });
  expect(eventOf("userPromptSubmitted")).toMatchObject({ type: "TurnStart", prompt: "T1 write a.txt" });
  expect(eventOf("agentStop")).toMatchObject({ type: "TurnEnd", metadata: {} });
  expect(eventOf("sessionEnd")).toMatchObject({ type: "SessionEnd", metadata: { reason: "complete" } });
  expect(eventOf("preCompact")).toMatchObject({ type: "Compaction", metadata: { trigger: "manual" } });
});

test("an error of the model's ends the turn, another one doesn't", () => {
  const event = eventOf("errorOccurred");
  expect(event?.type).toBe("TurnEnd");
  expect(event?.metadata["error"]).toContain("fake error 400");
  expect(eventOf("errorOccurred", { errorContext: "tool_execution" })).toBeNull();
});

test("tools: kinds, commands, files", () => {
  expect(eventOf("preToolUse.bash")?.tool).toEqual({
    kind: "shell",
    name: "bash",
    id: null,
    command: "echo hi > b.txt",
    paths: [],
  });
  for (const name of ["postToolUse.create", "postToolUse.edit"]) {
    expect(eventOf(name)).toMatchObject({ type: "ToolEnd", tool: { paths: ["/home/dev/project/a.txt"] } });
  }
});

test("the call for a subagent says what it is to do", () => {
  expect(eventOf("preToolUse.task")?.subagent).toMatchObject({
    type: "general-purpose",
    description: "sub work",
    prompt: "SUB please write c.txt",
  });
});

test("a subagent begins and ends in its session", () => {
  for (const [name, type] of [
    ["subagentStart", "SubagentStart"],
    ["subagentStop", "SubagentEnd"],
  ] as const) {
    expect(eventOf(name)).toMatchObject({
      type,
      sessionId: SESSION,
      subagent: { id: SUBAGENT, type: "general-purpose", transcriptPath: null },
    });
  }
});

test("what a subagent says to its model is no turn; its tools are the session's", () => {
  for (const name of ["userPromptSubmitted", "agentStop"]) expect(eventOf(`${name}.inSubagent`)).toBeNull();
  const path = transcriptOf(SESSION);
  expect(eventOf("postToolUse.inSubagent")).toBeNull();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  expect(eventOf("postToolUse.inSubagent")).toMatchObject({
    type: "ToolEnd",
    sessionId: SESSION,
    transcriptPath: path,
    subagent: { id: SUBAGENT },
  });
});

test("purely informational events have no effect", () => {
  for (const name of ["userPromptTransformed", "permissionRequest.bash", "permissionRequest.inSubagent"]) {
    expect(eventOf(name)).toBeNull();
  }
});

test("Copilot runs Claude Code's hooks as well, and is known by its variables", async () => {
  const { profile } = await requireAgent("claude-code");
  const env = { COPILOT_HOOK_DIR: "/home/dev/project/.claude", CLAUDE_PROJECT_DIR: "/home/dev/project" };
  expect(await actualAgent(profile, payload("Stop"), env)).toBe("copilot-cli");
  expect(eventOf("Stop")).toMatchObject({
    type: "TurnEnd",
    sessionId: "3a99cdd9-50dd-475d-be6d-82f52863498c",
    timestamp: "2026-11-16T02:51:02.345Z",
  });
});

test("the file of hooks is all that Copilot needs", () => {
  const file = JSON.parse(hookFile.content((verb) => `call ${verb}`)) as {
    version: number;
    hooks: Record<string, Record<string, unknown>[]>;
  };
  expect(file.version).toBe(1);
  expect(Object.keys(file.hooks)).toEqual(Object.keys(copilot.agent.profile.hooks?.install ?? {}));
  expect(file.hooks["agentStop"]).toEqual([{ type: "command", bash: "call agent-stop", timeoutSec: 30 }]);
  expect(file.hooks["preToolUse"]).toMatchObject([{ matcher: "bash|powershell|task", bash: "call pre-tool-use" }]);
});
