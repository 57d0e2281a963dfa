import { expect, test } from "bun:test";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { forker, linesOf, transcript, upTo } from "./recorded.ts";

const OLD_ID = "34b0095b-504f-436b-8ce5-8b74058fe603";
const NEW_ID = "9b2f3f7e-0000-4000-8000-000000000001";
const DIRECTORY = "/home/dev/.copilot/session-state";

function fork(changes: Partial<ForkRequest> = {}) {
  return forker.fork({
    bytes: transcript("three-turns"),
    lastId: null,
    transcriptPath: `${DIRECTORY}/${OLD_ID}/events.jsonl`,
    newSessionId: NEW_ID,
    projectRoot: "/home/dev/project",
    title: "T1 write a.txt",
    ...changes,
  });
}

function described(changes: Partial<ForkRequest> = {}): Record<string, unknown> {
  const text = Buffer.from(fork(changes).files?.[0]?.content ?? []).toString("utf8");
  const fields = text.trimEnd().split("\n");
  return Object.fromEntries(
    fields.map((line) => [line.split(": ")[0], JSON.parse(line.slice(line.indexOf(": ") + 2))]),
  );
}

test("a fork is the conversation up to the entry, with a new id, in a separate directory", () => {
  const { content, transcriptPath, sessionId, files } = fork({ bytes: upTo("three-turns", '"type":"session.resume"') });
  const lines = linesOf(content);
  expect(sessionId).toBe(NEW_ID);
  expect(transcriptPath).toBe(`${DIRECTORY}/${NEW_ID}/events.jsonl`);
  expect(files?.map(({ path }) => path)).toEqual([`${DIRECTORY}/${NEW_ID}/workspace.yaml`]);
  expect(lines.at(-1)?.type).toBe("assistant.turn_end");
  expect(lines).toHaveLength(25);
  expect(Buffer.from(content).includes(OLD_ID)).toBe(false);
  expect(Buffer.from(content).toString().replaceAll(NEW_ID, OLD_ID)).toBe(
    transcript("three-turns").subarray(0, content.length).toString(),
  );
});

test("Copilot lists it with a title, in its directory", () => {
  expect(described()).toMatchObject({
    id: NEW_ID,
    cwd: "/home/dev/project",
    git_root: "/home/dev/project",
    name: "[Fork] T1 write a.txt",
    user_named: true,
  });
  expect(described({ projectRoot: "/home/dev/other" })).toMatchObject({ cwd: "/home/dev/other" });
});

test("it is cut behind the entry, or behind the last place before it that is whole", () => {
  const last = (lastId: string) => linesOf(fork({ lastId }).content).at(-1)?.id;
  expect(last("64615240-85f9-4a20-9809-a382d9849ee3")).toBe("64615240-85f9-4a20-9809-a382d9849ee3");
  const lines = linesOf(transcript("three-turns"));
  const [, secondPrompt] = lines.filter(({ type }) => type === "user.message");
  const [, , secondCall] = lines.filter(({ type }) => type === "assistant.message");
  expect(last(String(secondCall?.id))).toBe(secondPrompt?.id);
  expect(last("nowhere")).toBe("2063f8a1-06db-45e2-939b-afb2c0a812e8");
});

test("a conversation that had not begun has nothing to fork", () => {
  expect(fork({ bytes: upTo("three-turns", '"type":"hook.end"') }).content).toHaveLength(0);
  expect(fork({ bytes: upTo("three-turns", '"type":"user.message"') }).content.length).toBeGreaterThan(0);
});

test("the command continues that session", () => {
  expect(shellText(forker.resumeCommand(NEW_ID))).toBe(`copilot --resume=${NEW_ID}`);
});
