import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ForkRequest } from "../../../src/agents/agent.ts";
import { analyser, forker, jsonl, linesOf, transcript, transcriptNames, upTo } from "./recorded.ts";

const NEW_ID = "9b2f3f7e-0000-4000-8000-000000000001";
const DIRECTORY = "/home/dev/.factory/sessions/-home-dev-project";

function fork(changes: Partial<ForkRequest> = {}) {
  return forker.fork({
    bytes: transcript("two-turns"),
    lastId: null,
    transcriptPath: `${DIRECTORY}/710c9ac7-bb12-48b9-8983-dffb71652da3.jsonl`,
    newSessionId: NEW_ID,
    projectRoot: "/home/dev/project",
    title: "Please do [[turn1]] now",
    ...changes,
  });
}

test("a fork is the conversation up to there, under a new id and title", () => {
  const bytes = upTo("two-turns", '"reason":"completed"');
  const { content, transcriptPath, sessionId } = fork({ bytes });
  const [head, ...rest] = linesOf(content);
  expect(sessionId).toBe(NEW_ID);
  expect(transcriptPath).toBe(`${DIRECTORY}/${NEW_ID}.jsonl`);
  expect(head).toMatchObject({
    type: "session_start",
    id: NEW_ID,
    title: "[Fork] Please do [[turn1]] now",
    isSessionTitleManuallySet: true,
    cwd: "/home/dev/project",
    version: 2,
  });
  expect(rest).toEqual(linesOf(bytes).slice(1));
});

test("it is cut behind the entry, or behind the last place before it that is whole", () => {
  const last = (lastId: string) => linesOf(fork({ lastId }).content).at(-1)?.id;
  expect(last("045ee200-9607-4f2d-810b-8a4db0d3dbfe")).toBe("045ee200-9607-4f2d-810b-8a4db0d3dbfe");
  expect(last("e1127930-a531-4445-81d7-5a15b0973bf1")).toBe("cd1956a0-cdc5-4510-add3-59d2b2ae4fe9");
  expect(fork({ lastId: "nowhere" }).content.length).toBeGreaterThan(
    fork({ lastId: "045ee200-9607-4f2d-810b-8a4db0d3dbfe" }).content.length,
  );
});

test("no use of a tool is left without its result, wherever it is cut", () => {
  for (const name of transcriptNames) {
    const lines = linesOf(transcript(name));
    for (let count = 0; count <= lines.length; count++) {
      const { content } = fork({ bytes: jsonl(lines.slice(0, count)) });
      const { entries } = analyser.read(content);
      const used = entries.filter(({ type }) => type === "tool-use").map(({ toolUseId }) => toolUseId);
      const answered = new Set(entries.filter(({ type }) => type === "tool-result").map(({ toolUseId }) => toolUseId));
      expect(used.filter((id) => !answered.has(id))).toEqual([]);
    }
  }
});

test("a conversation that had not begun has nothing to fork", () => {
  expect(fork({ bytes: Buffer.alloc(0) }).content).toHaveLength(0);
  expect(fork({ bytes: upTo("two-turns", '"id":"context-') }).content).toHaveLength(0);
  expect(fork({ bytes: Buffer.from("not JSON\n") }).content).toHaveLength(0);
  expect(fork({ bytes: upTo("two-turns", '"id":"1ad451ae') }).content.length).toBeGreaterThan(0);
});

test("for another work tree it lies there and begins there", () => {
  const { transcriptPath, content } = fork({ projectRoot: "/home/dev/other.tree" });
  expect(transcriptPath).toBe(`/home/dev/.factory/sessions/-home-dev-other.tree/${NEW_ID}.jsonl`);
  expect(linesOf(content)[0]).toMatchObject({ cwd: "/home/dev/other.tree" });
});

test("the title is one line, short, and has its prefix once", () => {
  const title = (text: string) => linesOf(fork({ title: text }).content)[0]?.["title"];
  expect(title("[Fork] [Fork] again")).toBe("[Fork] again");
  expect(title('two\nlines "quoted" \u001b[31mred')).toBe('[Fork] two lines "quoted" red');
  expect(String(title("long ".repeat(50))).length).toBeLessThanOrEqual(80);
});

test("a new id never leads out of the directory", () => {
  for (const newSessionId of ["../x", "a/b", "", "a.b", "name"]) {
    expect(() => fork({ newSessionId })).toThrow("can't be the id");
  }
});

test("the command continues that session", () => {
  expect(forker.resumeCommand(NEW_ID)).toBe(`droid --resume ${NEW_ID}`);
});

test("damaged transcripts give a fork of whole lines, or none", () => {
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
