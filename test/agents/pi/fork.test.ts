import { expect, test } from "bun:test";
import fc from "fast-check";
import { createAgent } from "../../../src/agents/builtin/pi/adapter.ts";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { jsonl } from "../recorded.ts";
import { analyzer, DIRECTORY, forker, lines, linesOf, PATH, pi, promptStarts, session } from "./recorded.ts";

const NEW = "4f6c7c1e-0000-4000-8000-000000000001";

function fork(given: Partial<ForkRequest> = {}) {
  const request = { lastId: null, newSessionId: NEW, transcriptPath: PATH, projectRoot: "/home/dev/proj" };
  return forker.fork({ ...request, title: "Say hello", bytes: session, ...given });
}

function idsOf(given: Partial<ForkRequest> = {}): string[] {
  return linesOf(fork(given).content)
    .slice(1, -1)
    .map((line) => line.id);
}

const FIRST_TURN = lines.slice(1, 9).map((line) => line.id);
const SECOND_TURN = lines.slice(9, 15).map((line) => line.id);

test("cut before the second prompt, it is the first turn, byte for byte, under a new header and title", () => {
  const bytes = session.subarray(0, promptStarts[1]);
  const { content, sessionId, transcriptPath, command } = fork({ bytes, lastId: "e674c3e3" });
  expect({ sessionId, command }).toEqual({ sessionId: NEW, command: undefined });
  expect(transcriptPath).toMatch(new RegExp(`^${DIRECTORY}/\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z_${NEW}\\.jsonl$`));
  const [header, ...entries] = linesOf(content);
  expect(header).toMatchObject({ type: "session", version: 3, id: NEW, cwd: "/home/dev/proj", parentSession: PATH });
  expect(entries.at(-1)).toMatchObject({ type: "session_info", parentId: "e674c3e3", name: "[Fork] Say hello" });
  expect(FIRST_TURN).not.toContain(entries.at(-1)?.id);
  const original = session.subarray(session.indexOf(10) + 1, promptStarts[1]);
  expect(Buffer.from(content).includes(original)).toBe(true);
});

test("after a branch was left, the leaf marks the end of the conversation, not the last line", () => {
  const bytes = session.subarray(0, promptStarts[3]);
  expect(idsOf({ bytes, lastId: "9cd15bcd" })).toEqual([...FIRST_TURN, ...SECOND_TURN]);
  // Lost, or never heard of: the branch of the newest line.
  const newest = [...FIRST_TURN, ...SECOND_TURN, "082c7c89", "57a41be5"];
  expect(idsOf({ bytes })).toEqual(newest);
  expect(idsOf({ bytes, lastId: "ffffffff" })).toEqual(newest);
});

test("other branches stay behind", () => {
  const ids = idsOf();
  expect(ids.slice(-5)).toEqual(["bf771b9d", "d0fe9171", "89242743", "6164746f", "6d985119"]);
  expect(ids).not.toContain("57a41be5");
});

test("a tool use without its result is left out, unless Pi has given it up", () => {
  expect(idsOf({ lastId: "e404cde0" })).toEqual(FIRST_TURN.slice(0, 4));
  expect(idsOf({ lastId: "72a36b48" })).toEqual(FIRST_TURN.slice(0, 4));
  const aborted = lines.map((line) =>
    line.id === "e404cde0" ? { ...line, message: { ...line.message, stopReason: "aborted" } } : line,
  );
  expect(idsOf({ bytes: jsonl(aborted), lastId: "e404cde0" })).toEqual(FIRST_TURN.slice(0, 5));
});

test("cut anywhere, it is a part of one branch that hangs together", () => {
  const ids = lines.slice(1).map((line) => line.id);
  fc.assert(
    fc.property(fc.constantFrom(...ids), fc.nat(), (lastId, end) => {
      const { content } = fork({ bytes: session.subarray(0, end % (session.length + 1)), lastId });
      const entries = linesOf(content).slice(1);
      expect(entries.map((line) => line.parentId ?? null)).toEqual(entries.map((_, at) => entries[at - 1]?.id ?? null));
      if (content.length > 0) expect(analyzer.read(content).title).toBe("[Fork] Say hello");
    }),
    { numRuns: 200 },
  );
});

test("an empty conversation can't be continued", () => {
  expect(fork({ bytes: session.subarray(0, promptStarts[0]) }).content).toHaveLength(0);
  expect(fork({ bytes: session.subarray(0, 40) }).content).toHaveLength(0);
  expect(fork({ bytes: jsonl(lines.slice(1)) }).content).toHaveLength(0);
});

test("it is where Pi looks for the directory's sessions, or where the user keeps them", () => {
  const elsewhere = fork({ projectRoot: "/home/dev/other" });
  expect(elsewhere.transcriptPath).toStartWith("/home/dev/.pi/agent/sessions/--home-dev-other--/");
  expect(linesOf(elsewhere.content)[0]).toMatchObject({ cwd: "/home/dev/other" });
  expect(fork({ transcriptPath: `/home/dev/kept/a_b.jsonl` }).transcriptPath).toStartWith("/home/dev/kept/");
});

test("a session of a subdirectory is opened by its file: by its id, Pi would look in another place", () => {
  const bytes = jsonl([{ ...lines[0], cwd: "/home/dev/proj/it's" }, ...lines.slice(1)]);
  const { command, transcriptPath } = fork({ bytes });
  expect(transcriptPath).toStartWith("/home/dev/.pi/agent/sessions/--home-dev-proj-it's--/");
  expect(command && shellText(command)).toBe(`pi --session '${transcriptPath.replace("'", `'\\''`)}'`);
  expect(shellText(forker.resumeCommand(NEW))).toBe(`pi --session ${NEW}`);
});

test("a descendant of Pi may write a title before the header, and continues by its own command", async () => {
  const title = Buffer.from('{"type":"title","v":1,"title":""}\n');
  expect(idsOf({ bytes: Buffer.concat([title, session]) })).toEqual(idsOf());
  const profile = { ...pi.agent.profile, resume: ["omp", "--resume", "{session}"] };
  const { forker: own } = createAgent(profile);
  const elsewhere = { projectRoot: "/home/dev", newSessionId: NEW, lastId: null, title: "T" };
  const { command } = own?.fork({ ...elsewhere, transcriptPath: PATH, bytes: session }) ?? {};
  expect(shellText(command ?? { cwd: null, steps: [] })).toMatch(/^omp --resume \S+\.jsonl$/);
});
