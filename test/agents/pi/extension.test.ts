/** The extension itself, loaded as Pi loads it, with a Pi and a Backtrail that only write down. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hookFile } from "./recorded.ts";

type Handler = (event: object, ctx: object) => Promise<unknown>;

let home: string;
let loaded = 0;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "pi-extension-")));
  mkdirSync(join(home, "told"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const RECORD = "n=$(ls told | wc -l); cat > told/$(printf %03d $n).json";

/** A Pi with one extension. `settles`: whether it is one of those that tell when nothing more will come. */
async function load(settles = true, command: (verb: string) => string = () => RECORD) {
  const path = join(home, `index-${loaded++}.ts`);
  writeFileSync(path, hookFile.content(command));
  const handlers = new Map<string, Handler>();
  const module = (await import(path)) as { default(pi: object): void };
  const on = (event: string, handler: Handler) => handlers.set(event, handler);
  module.default(settles ? { on, registerEntryRenderer() {} } : { on });
  return (event: string, given: object = {}, ctx: object = context()) => handlers.get(event)?.(given, ctx);
}

function context(more: object = {}, file: string | undefined = "/s/t_one.jsonl"): object {
  const sessionManager = {
    getSessionFile: () => file,
    getSessionId: () => `one ${home}`,
    getLeafId: () => "leaf",
    getHeader: () => ({}),
  };
  return { sessionManager, cwd: home, model: { id: "model-1" }, hasUI: false, ...more };
}

function told(): Record<string, unknown>[] {
  const names = readdirSync(join(home, "told")).sort();
  return names.map((name) => JSON.parse(readFileSync(join(home, "told", name), "utf8")) as Record<string, unknown>);
}

function eventsTold(): unknown[] {
  return told().map(({ event }) => event);
}

test("a turn is reported with its session, its leaf and its tools, and nothing comes back to Pi", async () => {
  const send = await load();
  const back = [
    await send("session_start", { reason: "startup" }),
    await send("before_agent_start", { prompt: "Hello", systemPrompt: "long" }),
    await send("tool_call", { toolName: "bash", toolCallId: "1", input: { command: "ls", timeout: 1 } }),
    await send("tool_call", { toolName: "write", toolCallId: "2", input: { path: "a", content: "long" } }),
    await send("tool_result", { toolName: "write", toolCallId: "2", input: { path: "a", content: "long" } }),
    await send("tool_result", { toolName: "read", toolCallId: "3", input: { path: "a" } }),
    await send("agent_end", { messages: [{ role: "assistant", stopReason: "stop" }, { role: "toolResult" }] }),
    await send("agent_settled", { aborted: false }),
    await send("session_shutdown", { reason: "quit" }),
  ];
  expect(back.every((value) => value === undefined)).toBe(true);
  const session = { sessionId: `one ${home}`, sessionFile: "/s/t_one.jsonl", leafId: "leaf" };
  const common = { ...session, cwd: home, model: "model-1" };
  expect(told()).toEqual([
    { event: "session_start", ...common, reason: "startup" },
    { event: "before_agent_start", ...common, prompt: "Hello" },
    { event: "tool_call", ...common, toolName: "bash", toolCallId: "1", input: { command: "ls" } },
    { event: "tool_result", ...common, toolName: "write", toolCallId: "2", input: { path: "a" } },
    { event: "agent_settled", ...common, aborted: false, stopReason: "stop" },
    { event: "session_shutdown", ...common, reason: "quit" },
  ]);
});

test("an older Pi's turn ends with its run, unless the run failed and may be tried again", async () => {
  const send = await load(false);
  await send("agent_end", { messages: [{ role: "assistant", stopReason: "error" }] });
  expect(told()).toEqual([]);
  await send("agent_end", { messages: [{ role: "assistant", stopReason: "stop" }] });
  expect(eventsTold()).toEqual(["agent_end"]);
});

test("a session that is not stored is not reported", async () => {
  const send = await load();
  await send("session_start", {}, context({}, ""));
  await send("before_agent_start", { prompt: "Hello" }, context({}, ""));
  expect(told()).toEqual([]);
});

test("installed twice, one of them tells, and after a reload again one of them", async () => {
  const both = [await load(), await load()];
  for (const send of both) await send("session_start", { reason: "startup" });
  for (const send of both) await send("before_agent_start", { prompt: "Hello" });
  for (const send of both) await send("session_shutdown", { reason: "reload" });
  const again = [await load(), await load()];
  for (const send of again) await send("session_start", { reason: "reload" });
  expect(eventsTold()).toEqual(["session_start", "before_agent_start", "session_start"]);
});

test("the hook gets Pi's process id, so that the turn of a killed Pi can be closed", async () => {
  const send = await load(true, () => `cat > /dev/null; echo "{\\"pid\\":$PI_PID}" > told/000.json`);
  await send("session_start");
  expect(told()).toEqual([{ pid: process.pid }]);
});

test("a subagent is a tool use of kind `task`", async () => {
  const send = await load();
  const use = { toolName: "subagent", toolCallId: "7", input: { agent: "worker", task: "Do it" } };
  await send("tool_call", use);
  await send("tool_result", { ...use, details: "long" });
  await send("tool_call", { ...use, input: { tasks: [use.input] } });
  expect(told().map(({ event, subagent }) => [event, subagent])).toEqual([
    ["subagent_call", { id: "7", agent: "worker", task: "Do it" }],
    ["subagent_result", { id: "7", agent: "worker", task: "Do it" }],
    ["subagent_call", { id: "7" }],
  ]);
});

test("Backtrail's message is shown if there is a user interface", async () => {
  const send = await load(true, () => `cat > /dev/null; echo '{"notice":"Recording is on."}'`);
  const shown: unknown[] = [];
  const ui = { notify: (...given: unknown[]) => shown.push(given) };
  await send("session_start", {}, context({ hasUI: true, ui }));
  await send("session_start", {}, context({ hasUI: false, ui }));
  expect(shown).toEqual([["Recording is on.", "info"]]);
});

test("no failure of Backtrail reaches Pi", async () => {
  for (const command of ["exit 3", "echo '{'", "/missing/program", "kill -9 $$"]) {
    const send = await load(true, () => command);
    const ui = { notify: () => expect.unreachable() };
    expect(await send("tool_call", { toolName: "bash", input: null }, context({ hasUI: true, ui }))).toBeUndefined();
    await send("session_shutdown", { reason: "quit" });
  }
  const send = await load();
  expect(await send("before_agent_start", {}, { cwd: home })).toBeUndefined();
  expect(await send("agent_end", { messages: "?" })).toBeUndefined();
});
