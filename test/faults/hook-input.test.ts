/** Standard input that is broken in ways only a process can show: it never ends, never begins, or is enormous. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { executable, type Result } from "../support/index.ts";
import { harmless, Recording } from "../support/recording.ts";

const STOP = ["hooks", "claude-code", "stop"];

test("input that never ends: the received part counts", async () => {
  using recording = await Recording.begin();
  await recording.prompt("one");
  const stop = JSON.stringify(recording.payload("Stop", recording.answer("Done.")));
  harmless(await leftOpen(recording, stop));
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", prompt: "one" });
}, 60_000);

test("input that never begins: the turn is saved with data from the environment", async () => {
  using recording = await Recording.begin();
  await recording.prompt("one");
  harmless(await leftOpen(recording, ""));
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", prompt: "one" });
  expect(recording.logged().at(-1)?.message).toContain("not a JSON object");
}, 60_000);

test("input that is closed, a directory, or unreadable", async () => {
  using recording = await Recording.begin();
  const { repository } = recording;
  await recording.prompt("one");
  const directory = openSync(repository.path, "r");
  const unreadable = openSync(repository.write("only-for-writing", ""), "w");
  try {
    for (const input of ["ignore", directory, unreadable] as const) harmless(await started(recording, input).ended);
    const script = 'exec "$0" "$@" <&-';
    harmless(await started(recording, "ignore", ["/bin/sh", "-c", script, executable(), ...STOP]).ended);
  } finally {
    closeSync(directory);
    closeSync(unreadable);
  }
  expect((await recording.steps())[0]).toMatchObject({ kind: "turn-end", prompt: "one" });
}, 60_000);

test("a hundred megabytes", async () => {
  using recording = await Recording.begin();
  const content = "all work and no play\n".repeat(5_000_000);
  const tool = { tool_name: "Write", tool_input: { file_path: recording.repository.at("a.txt"), content } };
  harmless(await recording.hook("UserPromptSubmit", { prompt: content }));
  harmless(await recording.hook("PostToolUse", tool));
  harmless(await recording.hook("PreToolUse", { tool_name: "Bash", tool_input: { command: `rm ${content}` } }));
  harmless(await recording.hook("Stop", { last_assistant_message: content }));
  const steps = await recording.steps();
  expect(steps.map((step) => step.kind)).toEqual(["turn-end", "tool", "turn-start"]);
  expect(JSON.stringify(steps).length).toBeLessThan(50_000);
}, 120_000);

test("an agent that goes away without reading the answer", async () => {
  using recording = await Recording.begin();
  const script = 'exec "$0" hooks claude-code session-start >&-';
  const child = started(recording, "pipe", ["/bin/sh", "-c", script, executable()]);
  child.write(JSON.stringify(recording.payload("SessionStart", { source: "startup" })));
  harmless(await child.ended);
  await recording.prompt("one");
  expect((await recording.steps()).length).toBe(1);
}, 60_000);

/** Runs the hook with a standard input that stays open until it has ended by itself. */
function leftOpen(recording: Recording, input: string): Promise<Result> {
  const child = started(recording, "pipe");
  child.write(input, false);
  return child.ended;
}

function started(recording: Recording, stdin: "pipe" | "ignore" | number, command = [executable(), ...STOP]) {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: recording.repository.path,
    env: recording.repository.environment(recording.variables()),
    stdio: [stdin, "pipe", "pipe"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (data) => {
    stdout += data;
  });
  child.stderr?.on("data", (data) => {
    stderr += data;
  });
  child.on("error", reject);
  child.on("close", (code, signal) => {
    clearTimeout(timer);
    child.stdin?.destroy();
    resolve({ stdout, stderr, code, signal });
  });
  child.stdin?.on("error", () => {});
  const write = (text: string, end = true) => (end ? child.stdin?.end(text) : child.stdin?.write(text));
  return { ended: promise, write };
}
