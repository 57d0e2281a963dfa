import { expect, test } from "bun:test";
import { basename, dirname } from "node:path";
import fc from "fast-check";
import type { ForkRequest } from "../../../src/agents/agent.ts";
import { analyser, forker, linesOf, transcript, transcriptNames, upTo } from "./recorded.ts";

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
  expect(analyser.readStretch(content, 0)).toMatchObject({ prompts: ["TURN1 please"], lastAnswer: "Created a.txt." });
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

test("it lies beside the original, by the name that Codex looks for", () => {
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

test("no call is left without its result, wherever it is cut", () => {
  for (const name of ["two-turns", "direct-tools", "parent", "compacted", "interrupted"]) {
    for (const { ordinal } of linesOf(transcript(name))) {
      const { content } = fork({ bytes: upTo(name, ordinal ?? 0) });
      const entries = analyser.read(content).entries;
      const used = entries.filter((entry) => entry.type === "tool-use").map((entry) => entry.toolUseId);
      const answered = new Set(entries.filter((entry) => entry.type === "tool-result").map((entry) => entry.toolUseId));
      expect(used.filter((id) => !answered.has(id))).toEqual([]);
    }
  }
});

test("a conversation that had not begun has nothing to fork", () => {
  expect(fork({ bytes: Buffer.alloc(0) }).content).toHaveLength(0);
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

test("a new id never leads out of the directory, and Codex takes it for a thread's", () => {
  for (const newSessionId of ["../x", "a/b", "", "a.b", "a-name", NEW_ID.toUpperCase().replace(/9/g, "G")]) {
    expect(() => fork({ newSessionId })).toThrow("can't be the id");
  }
});

test("the command continues that thread", () => {
  expect(forker.resumeCommand(NEW_ID)).toBe(`codex resume ${NEW_ID}`);
});

test("damaged rollouts give a fork of whole lines, or none", () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 10 });
  fc.assert(
    fc.property(fc.constantFrom(...transcriptNames), damage, fc.nat(), (name, hits, cut) => {
      const bytes = Buffer.from(transcript(name));
      for (const [at, value] of hits) bytes[at % bytes.length] = value;
      const { content } = fork({ bytes: bytes.subarray(0, cut % bytes.length) });
      expect(content.length === 0 || content.at(-1) === 10).toBe(true);
    }),
    { numRuns: 60 },
  );
});
