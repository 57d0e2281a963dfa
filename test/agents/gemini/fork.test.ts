import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { jsonl } from "../recorded.ts";
import { analyzer, forker, linesOf, transcript, transcriptBefore } from "./recorded.ts";

const NEW_ID = "99999999-9999-4999-8999-aaaaaaaaaaaa";
const NAMES = ["resumed", "resumed-later", "compressed", "compressed-by-itself", "rewound", "interrupted"];

const directory = mkdtempSync(join(tmpdir(), "fork-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function fork(changes: Partial<ForkRequest> = {}) {
  return forker.fork({
    bytes: transcript("resumed"),
    lastId: null,
    transcriptPath: "/home/dev/.gemini/tmp/proj/chats/session-2026-11-16T03-25-ae1f9fe3.jsonl",
    newSessionId: NEW_ID,
    projectRoot: "/home/dev/main/proj",
    title: "Please do it",
    ...changes,
  });
}

function prompts(content: Uint8Array): string[] {
  return analyzer.readSlice(content, 0).prompts;
}

test("a new session: id, title, the conversation up to the entry", () => {
  const bytes = transcriptBefore("resumed", '"text":"TURN2 please"');
  const { content, sessionId, transcriptPath } = fork({ bytes });
  const [header, ...messages] = linesOf(content);
  expect(header).toMatchObject({ sessionId: NEW_ID, kind: "main", summary: "[Fork] Please do it" });
  expect(sessionId).toBe(NEW_ID);
  expect(transcriptPath).toStartWith("/home/dev/.gemini/tmp/proj/chats/session-");
  expect(Buffer.from(content).includes("ae1f9fe3-351a-427a-9c0c-3431036d00b4")).toBe(false);
  expect(messages.map((message) => message.type)).toEqual(["user", "gemini", "user", "gemini"]);
  expect(analyzer.readSlice(content, 0)).toMatchObject({ prompts: ["TURN1 please"], lastAnswer: "Created a.txt." });
});

test("it ends with the entry", () => {
  const lastId = "94183c4e-d99a-48cd-b3e2-c4eb1e530380";
  expect(linesOf(fork({ lastId }).content).at(-1)?.id).toBe(lastId);
  expect(prompts(fork({ lastId: "nobody knows it" }).content)).toEqual(["TURN1 please", "TURN2 please"]);
});

test("a resume that had only begun leaves the conversation as it was", () => {
  // Up to the start of a new session within the old one's transcript.
  const bytes = transcriptBefore("resumed", '{"$set":{"sessionId"');
  expect(linesOf(bytes).at(-2)?.sessionId).toBeString();
  expect(prompts(fork({ bytes }).content)).toEqual(["TURN1 please"]);
});

test("no result is there twice, and where it runs is left to the agent", () => {
  for (const name of NAMES) {
    const lines = linesOf(fork({ bytes: transcript(name) }).content);
    const text = JSON.stringify(lines.map((line) => line.content));
    expect(text).not.toContain("<session_context>");
    const results = new Map<string, number>();
    for (const line of lines) for (const id of resultsOf(line)) results.set(id, (results.get(id) ?? 0) + 1);
    expect([...results].filter(([, times]) => times > 1)).toEqual([]);
  }
});

test("calls side by side have each their own result, though a resume gives each all", () => {
  const response = (id: string) => ({ functionResponse: { id, name: "read_file", response: { output: id } } });
  const both = [response("a"), response("b")];
  const call = (id: string) => ({ id, name: "read_file", args: {}, status: "success", result: both });
  const bytes = jsonl([
    { sessionId: "s", projectHash: "h" },
    { id: "1", type: "user", content: "go" },
    { id: "2", type: "gemini", content: "", toolCalls: [call("a"), call("b")] },
    { id: "2_response", type: "user", content: both },
    { id: "3", type: "gemini", content: "done" },
  ]);
  const { content } = fork({ bytes });
  expect(linesOf(content)[2]).toMatchObject({
    toolCalls: [{ result: [response("a")] }, { result: [response("b")] }],
  });
  expect(linesOf(content).map((line) => line.id)).toEqual([undefined, "1", "2", "3"] as never);
  expect(analyzer.read(bytes).entries.map((entry) => entry.text)).toEqual(["go", "", "a", "", "b", "done"]);
});

test("after a compression the summary is kept", () => {
  for (const name of ["compressed", "compressed-by-itself"]) {
    const [, first] = linesOf(fork({ bytes: transcript(name) }).content);
    expect(JSON.stringify(first?.content)).toStartWith('[{"text":"<state_snapshot>');
  }
  expect(prompts(fork({ bytes: transcript("compressed") }).content)).toEqual(["READ please"]);
});

test("what the agent took back or dropped itself stays away", () => {
  expect(prompts(fork({ bytes: transcript("rewound") }).content)).not.toContain("hello one more");
  expect(prompts(fork({ bytes: transcript("interrupted") }).content)).toEqual(["Are you there"]);
});

test("a conversation that had not begun has nothing to fork", () => {
  expect(fork({ bytes: transcriptBefore("resumed", '"text":"TURN1 please"') }).content).toHaveLength(0);
  const foreign = jsonl([{ type: "assistant", uuid: "x" }]);
  expect(fork({ bytes: foreign }).content).toHaveLength(0);
});

test("Gemini does not delete its file along with an empty session", () => {
  const name = fork().transcriptPath.split("/").at(-1);
  expect(name).toBe("session-99999999-aaaaaaaa.jsonl");
  expect(name?.endsWith(`-${NEW_ID.slice(0, 8)}.jsonl`)).toBe(false);
});

test("it is beside the original, or where another work tree's sessions are", () => {
  const chats = (name: string) => join(directory, ".gemini/tmp", name, "chats");
  const original = join(chats("proj"), "session-x.jsonl");
  const path = (projectRoot: string) => fork({ projectRoot, transcriptPath: original }).transcriptPath;
  expect(path("/home/dev/proj")).toStartWith(`${chats("proj")}/`);
  mkdirSync(join(directory, ".gemini"), { recursive: true });
  const projects = {
    "/home/dev/proj/sub": "proj",
    "/home/dev/proj": "proj-1",
    "/home/dev/tree": "tree-1",
    "/home/dev/bad": "../../x",
  };
  writeFileSync(join(directory, ".gemini/projects.json"), JSON.stringify({ projects }));
  expect(path("/home/dev/proj")).toStartWith(`${chats("proj")}/`);
  expect(path("/home/dev/tree")).toStartWith(`${chats("tree-1")}/`);
  expect(path("/home/dev/bad")).toStartWith(`${chats("proj")}/`);
  expect(path("/home/dev/unknown")).toStartWith(`${chats("proj")}/`);
  writeFileSync(join(directory, ".gemini/projects.json"), "[broken");
  expect(path("/home/dev/tree")).toStartWith(`${chats("proj")}/`);
});

test("the command continues that session", () => {
  expect(shellText(forker.resumeCommand(NEW_ID))).toBe(`gemini --resume ${NEW_ID}`);
});

/** Results by the calls' ids, as the agent takes them from a line. */
function resultsOf(line: object): string[] {
  const text = JSON.stringify(line);
  const called = [...text.matchAll(/"functionResponse":\{"id":"([^"]+)"/g)].map((match) => match[1] ?? "");
  return called;
}
