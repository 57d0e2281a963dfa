import { expect, test } from "bun:test";
import { temporaryDirectory } from "../../test/support/index.ts";
import { contextOf } from "./context.ts";
import type { RunNode } from "./log/tree.ts";

const start = (prompt: string) => JSON.stringify({ type: "aiwr_start", prompt, agent: "claude", model: null });
const said = (text: string) => JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } });
const used = (name: string, input: object) =>
  JSON.stringify({ type: "assistant", message: { content: [{ type: "tool_use", name, input }] } });
const ended = (result: string, ok = true) =>
  JSON.stringify({ type: "result", subtype: "success", is_error: !ok, result });

function node(id: string, path: string, children: RunNode[] = []): RunNode {
  return {
    id,
    path,
    date: "2026-01-05",
    agent: "claude",
    prompt: "",
    status: "completed",
    parent: null,
    at: 0,
    tags: [],
    ended: null,
    usage: null,
    runs: 1,
    children,
  };
}

test("prompts, actions, results and failures, run by run, each session below its parent", async () => {
  using place = temporaryDirectory();
  const parent = place.write(
    "parent.jsonl",
    [
      start("begin"),
      said("I will look."),
      used("Read", { file_path: "a.txt" }),
      said("All is well."),
      ended("All is well."),
      "----------",
      start("again"),
      ended("no such model", false),
      "torn {",
      "",
    ].join("\n"),
  );
  const child = place.write("child.jsonl", [start("a part"), ended("The part is done."), ""].join("\n"));
  const told = await contextOf(node("p1", parent, [node("c1", child)]), true);
  expect(told).toMatchSnapshot();
  expect(await contextOf(node("p1", parent, [node("c1", child)]), false)).not.toContain("c1");
});

test("a message in pieces is given whole", async () => {
  using place = temporaryDirectory();
  const line = (value: object) => JSON.stringify(value);
  const path = place.write(
    "gemini.jsonl",
    [
      line({ type: "aiwr_start", prompt: "begin", agent: "gemini", model: null }),
      line({ type: "message", role: "assistant", content: "I will ", delta: true }),
      line({ type: "message", role: "assistant", content: "write.", delta: true }),
      line({ type: "tool_use", tool_name: "write_file", parameters: {} }),
      line({ type: "message", role: "assistant", content: "Written.", delta: true }),
      line({ type: "result", status: "success" }),
      "",
    ].join("\n"),
  );
  const told = await contextOf({ ...node("g1", path), agent: "gemini" }, false);
  expect(told).toContain("Prompt: begin\nAgent: I will write.\nTool write_file: {}\nResult: Written.");
});

test("it stays within its limit, says what is left out, and keeps the newest", async () => {
  using place = temporaryDirectory();
  const lines = [start("p".repeat(5_000))];
  for (let i = 0; i < 500; i++) lines.push(used("Bash", { command: `step ${i} ${"x".repeat(200)}` }));
  lines.push(ended("r".repeat(50_000)), "");
  const path = place.write("long.jsonl", lines.join("\n"));
  const alone = await contextOf(node("l1", path), false, 10_000);
  expect(alone.length).toBeLessThan(10_500);
  expect(alone).toMatch(/\[\d+ earlier entries are left out\.\]/);
  expect(alone).toContain("step 499");
  expect(alone).not.toContain("step 0 ");
  expect(alone).toMatch(/Prompt: p+… \[\d+ more characters are left out\.\]/);

  const many = Array.from({ length: 100 }, (_, i) => node(`c${i}`, path));
  const tree = await contextOf(node("l1", path, many), true, 20_000);
  expect(tree.length).toBeLessThan(22_000);
  expect(tree).toContain("[88 more sessions are left out.]");
});
