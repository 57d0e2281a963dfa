import { expect, test } from "bun:test";
import { basename, dirname } from "node:path";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { analyzer, forker, linesOf, transcript, upTo } from "./recorded.ts";

const OLD_ID = "01a1e25d-d997-7812-86ef-732b92154785";
const NEW_ID = "99999999-9999-4999-8999-999999999999";
const DAY = "/home/dev/.codex/sessions/2026/11/16";

function fork(changes: Partial<ForkRequest> = {}) {
  return forker.fork({
    bytes: upTo("two-turns", 28),
    lastId: null,
    transcriptPath: `${DAY}/rollout-2026-11-16T03-19-23-${OLD_ID}.jsonl`,
    newSessionId: NEW_ID,
    projectRoot: "/home/dev/project",
    title: "Make a.txt",
    ...changes,
  });
}

test("the turn that had begun is gone, every other line is as it was but for the thread's id", () => {
  const { content, sessionId } = fork();
  const original = linesOf(upTo("two-turns", 25));
  const lines = linesOf(content);
  expect(sessionId).toBe(NEW_ID);
  const renamed = JSON.parse(JSON.stringify(original).replaceAll(OLD_ID, NEW_ID)) as typeof lines;
  expect(lines).toEqual(renamed);
  expect(Buffer.from(content).includes(OLD_ID)).toBe(false);
  expect(analyzer.readSlice(content, 0)).toMatchObject({ prompts: ["TURN1 please"], lastAnswer: "Created a.txt." });
});

test("older rollouts have no numbers, and their forks neither", () => {
  const lines = linesOf(fork({ bytes: transcript("legacy") }).content);
  expect(lines.every((line) => line.ordinal === undefined)).toBe(true);
  expect(lines[0]?.payload).toMatchObject({ id: NEW_ID, session_id: NEW_ID });
});

test("rollouts that never say when a turn begins are cut as well", () => {
  const lines = linesOf(transcript("legacy")).filter((line) => line.payload["type"] !== "task_started");
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(linesOf(fork({ bytes }).content)).toHaveLength(lines.length);
});

test("it is beside the original, by the name that Codex looks for", () => {
  const { transcriptPath } = fork();
  expect(dirname(transcriptPath)).toBe(DAY);
  expect(basename(transcriptPath)).toMatch(
    new RegExp(`^rollout-\\d{4}(-\\d\\d){2}T\\d\\d(-\\d\\d){2}-${NEW_ID}\\.jsonl$`),
  );
});

test("it ends with the entry that was asked for", () => {
  const lines = linesOf(fork({ bytes: transcript("two-turns"), lastId: "35" }).content);
  expect(lines.at(-1)?.ordinal).toBe(35);
  expect(linesOf(fork({ bytes: transcript("two-turns"), lastId: "34" }).content).at(-1)?.ordinal).toBe(31);
  expect(linesOf(fork({ bytes: transcript("two-turns"), lastId: "999" }).content).at(-1)?.ordinal).toBe(46);
});

test("a conversation that had not begun has nothing to fork", () => {
  for (const ordinal of [0, 1, 7, 11]) expect(fork({ bytes: upTo("two-turns", ordinal) }).content).toHaveLength(0);
  expect(fork({ bytes: upTo("two-turns", 12) }).content.length).toBeGreaterThan(0);
});

test("a fork of Codex's own still leads to the conversation that it continues", () => {
  for (const name of ["fork", "reverted"]) {
    const bytes = transcript(name);
    const base = linesOf(bytes)[0]?.payload["history_base"];
    const lines = linesOf(fork({ bytes: bytes.subarray(0, bytes.indexOf('"role":"user"')) }).content);
    expect(base).toBeObject();
    expect(lines[0]?.payload).toMatchObject({ id: NEW_ID, session_id: NEW_ID, history_base: base });
    expect(lines.some((line) => line.payload["type"] === "task_started")).toBe(false);
  }
});

test("for another work tree it begins there", () => {
  const meta = (projectRoot: string) => linesOf(fork({ projectRoot }).content)[0]?.payload;
  expect(meta("/home/dev")).toMatchObject({ cwd: "/home/dev/project" });
  expect(meta("/home/dev/other")).toMatchObject({
    cwd: "/home/dev/other",
    runtime_workspace_roots: ["/home/dev/other"],
  });
});

test("the command continues that thread", () => {
  expect(shellText(forker.resumeCommand(NEW_ID))).toBe(`codex resume ${NEW_ID}`);
});
