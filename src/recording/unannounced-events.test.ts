/** Agents that tell less than others: prompts without an event, hooks that overtake each other, a running count. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ScriptedSession } from "../../test/support/dispatching.ts";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import type { Tokens } from "../model/tokens.ts";

ownHome();

async function place() {
  const repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const one = new ScriptedSession(repository, workspace);
  return { repository, one, [Symbol.dispose]: () => repository.remove() };
}

const count = (output: number): Tokens => ({ input: output * 10, output, cacheRead: 0, cacheWrite: 0 });

test("the state at a session's start is saved if the agent's profile asks for it", async () => {
  using made = await place();
  const { one, repository } = made;
  await one.send("SessionStart", { baseline: true });
  one.transcript.user("Write it", "u1");
  repository.write("new", "x");
  await one.end("Written.");
  expect(one.steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
    ["baseline", 0, null],
    ["turn-end", 1, "Write it"],
  ]);
  expect(one.steps.at(-1)?.files.added).toEqual(["new"]);
});

test("a step within an unannounced turn belongs to the turn and leaves its end complete", async () => {
  using made = await place();
  const { one, repository } = made;
  await one.send("SessionStart", { baseline: true });
  one.transcript.user("Remove it", "u1");
  repository.write("new", "x");
  await one.tool("ToolStart", "shell", "rm README.md");
  await one.send("Compaction");
  rmSync(join(repository.path, "README.md"));
  await one.end("Removed.");
  expect(one.steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
    ["baseline", 0, null],
    ["tool", 1, "Remove it"],
    ["tool", 1, "Remove it"],
    ["turn-end", 1, "Remove it"],
  ]);
  expect(one.steps.at(-1)).toMatchObject({ response: "Removed.", files: { added: ["new"], deleted: ["README.md"] } });
  expect(one.state).toMatchObject({ phase: "IDLE", openTurn: null, turn: 1 });
});

test("a compaction in an unannounced turn leaves the turn open; the next prompt closes it", async () => {
  using made = await place();
  const { one, repository } = made;
  await one.send("SessionStart", { baseline: true });
  one.transcript.user("Write it", "u1");
  repository.write("new", "x");
  await one.send("Compaction");
  expect(one.state).toMatchObject({ phase: "ACTIVE", turn: 1, openTurn: { prompt: "Write it" } });
  await one.begin("Next");
  expect(one.steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
    ["baseline", 0, null],
    ["tool", 1, "Write it"],
    ["turn-end", 1, "Write it"],
    ["turn-start", 2, "Next"],
  ]);
  expect(one.steps[2]).toMatchObject({ interrupted: true, files: { added: ["new"] } });
});

test("a compaction between turns begins none", async () => {
  using made = await place();
  const { one } = made;
  await one.begin("First");
  await one.end();
  await one.send("Compaction");
  expect(one.state).toMatchObject({ phase: "IDLE", openTurn: null, turn: 1 });
});

test("a session's start that its first prompt has overtaken closes nothing", async () => {
  using made = await place();
  const { one } = made;
  const timestamp = new Date(Date.now() - 50).toISOString();
  await one.begin("First");
  await one.send("SessionStart", { timestamp });
  expect(one.state).toMatchObject({ phase: "ACTIVE", turn: 1 });
  await one.end();
  expect(one.kinds).toEqual(["turn-start", "turn-end"]);
  await one.begin("Second");
  await one.send("SessionStart");
  expect(one.kinds).toEqual(["turn-start", "turn-end", "turn-start", "turn-end"]);
});

test("an interruption that the next prompt has overtaken does not end that one's turn", async () => {
  using made = await place();
  const { one } = made;
  await one.begin("First");
  const timestamp = new Date().toISOString();
  await Bun.sleep(5);
  await one.begin("Second");
  await one.send("TurnEnd", { timestamp, metadata: { error: "interrupted" } });
  expect(one.state).toMatchObject({ phase: "ACTIVE", turn: 2 });
  await one.send("TurnEnd", { metadata: { error: "interrupted" } });
  expect(one.state).toMatchObject({ phase: "IDLE", turn: 2 });
  expect(one.kinds).toEqual(["turn-start", "turn-end", "turn-start", "turn-end"]);
});

test("a prompt typed while a tool runs is queued, and the turn continues", async () => {
  using made = await place();
  const { repository, one } = made;
  await one.begin("Tidy up");
  one.transcript.assistant([{ type: "tool_use", id: "t1", name: "Bash", input: { command: "mv a b" } }]);
  await one.send("TurnStart", { prompt: "And commit it", metadata: { prompt_id: "queued" } });
  expect(one.kinds).toEqual(["turn-start"]);
  repository.write("new", "x");
  one.transcript.user([{ type: "tool_result", tool_use_id: "t1", content: "ok" }], "p1");
  await one.end();
  expect(one.kinds).toEqual(["turn-start", "turn-end"]);
  expect(one.steps[1]).toMatchObject({ prompt: "Tidy up", interrupted: false, files: { added: ["new"] } });
  // The agent takes the prompt out of its queue without calling the hook again.
  one.transcript.user("And commit it", "p2");
  repository.write("newer", "x");
  await one.end("Committed.");
  expect(one.steps[2]).toMatchObject({ kind: "turn-end", prompt: "And commit it", files: { added: ["newer"] } });
});

test("a prompt after an interrupted tool begins a turn", async () => {
  using made = await place();
  const { repository, one } = made;
  await one.begin("Tidy up");
  one.transcript.assistant([{ type: "tool_use", id: "t1", name: "Bash", input: { command: "sleep 9" } }]);
  repository.write("new", "x");
  one.transcript.user([{ type: "tool_result", tool_use_id: "t1", is_error: true, content: "interrupted" }], "p1");
  one.transcript.user("[Request interrupted by user for tool use]", "p1");
  await one.begin("Leave it");
  expect(one.kinds).toEqual(["turn-start", "turn-end", "turn-start"]);
  expect(one.steps[1]).toMatchObject({ interrupted: true, files: { added: ["new"] } });
});

test("a turn gets the difference of a running total", async () => {
  using made = await place();
  const { one } = made;
  await one.send("SessionStart", { tokensSoFar: count(0) });
  for (const [before, after] of [
    [0, 5],
    [7, 20],
  ] as const) {
    await one.send("TurnStart", { prompt: `Prompt ${after}`, tokensSoFar: count(before) });
    one.transcript.user(`Prompt ${after}`, `u${after}`);
    one.transcript.assistant([{ type: "text", text: "Done." }]);
    await one.send("TurnEnd", { tokensSoFar: count(after) });
    expect(one.steps.at(-1)?.tokens).toEqual(count(after - before));
  }
  one.transcript.user("Unannounced", "u3");
  one.transcript.assistant([{ type: "text", text: "Done." }]);
  await one.send("TurnEnd", { tokensSoFar: count(26) });
  expect(one.steps.at(-1)).toMatchObject({ prompt: "Unannounced", tokens: count(6) });
});
