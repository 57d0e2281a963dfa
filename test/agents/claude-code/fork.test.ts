import { expect, test } from "bun:test";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { analyzer, forker, linesOf, transcript, transcriptBefore } from "./recorded.ts";

const NEW_ID = "99999999-9999-4999-8999-999999999999";
const AFTER_TURN_1 = "709ee2aa-676a-4bb3-be92-2a23af76882c";

function fork(changes: Partial<ForkRequest> = {}) {
  return forker.fork({
    bytes: transcript("three-turns"),
    lastId: AFTER_TURN_1,
    transcriptPath: "/home/dev/.claude/projects/-home-dev-project/2.jsonl",
    newSessionId: NEW_ID,
    projectRoot: "/home/dev/project",
    title: "Please do it",
    ...changes,
  });
}

test("the conversation ends with the entry, with a new id and a new title", () => {
  const { content, transcriptPath, sessionId } = fork();
  const lines = linesOf(content);
  expect(sessionId).toBe(NEW_ID);
  expect(transcriptPath).toBe(`/home/dev/.claude/projects/-home-dev-project/${NEW_ID}.jsonl`);
  expect(lines.at(-1)).toEqual({ type: "custom-title", customTitle: "[Fork] Please do it", sessionId: NEW_ID });
  expect(lines.at(-2)?.uuid).toBe(AFTER_TURN_1);
  expect(new Set(lines.map((line) => line.sessionId))).toEqual(new Set([NEW_ID]));
  expect(analyzer.readSlice(content, 0)).toMatchObject({
    prompts: ["Please do [[turn1]] now"],
    lastAnswer: "Done: wrote a.txt.",
    lastId: AFTER_TURN_1,
  });
});

test("but for the session's id every kept line is as it was", () => {
  const original = linesOf(transcriptBefore("three-turns", '"type":"last-prompt"'));
  const kept = linesOf(fork().content).slice(0, original.length);
  expect(kept).toEqual(original.map((line) => ({ ...line, sessionId: NEW_ID })));
});

test("the old session's id is nowhere a key's value", () => {
  const bytes = transcript("interrupted");
  const old = "66666666-6666-4666-8666-666666666666";
  expect(bytes.includes(`"session_id":"${old}"`)).toBe(true);
  const content = Buffer.from(fork({ bytes, lastId: null }).content);
  expect(content.includes(`"session_id":"${old}"`) || content.includes(`"sessionId":"${old}"`)).toBe(false);
  expect(content.includes(`"session_id":"${NEW_ID}"`)).toBe(true);
});

test("without an entry, everything up to the last whole point", () => {
  const bytes = transcriptBefore("three-turns", '"tool_use_id":"toolu_b1_2_35"');
  const slice = analyzer.readSlice(fork({ bytes, lastId: null }).content, 0);
  expect(slice.lastId).toBe("1a4ea295-8836-4182-9acd-91074df36bc8");
  expect(slice.prompts).toEqual(["Please do [[turn1]] now", "Next do [[turn2]] please"]);
});

test("an id that only words mention is not the place", () => {
  const decoy = `${JSON.stringify({
    type: "user",
    uuid: "later",
    sessionId: "s",
    message: { content: "x" },
    nested: { uuid: AFTER_TURN_1 },
  })}\n`;
  const bytes = Buffer.concat([transcript("three-turns"), Buffer.from(decoy)]);
  expect(linesOf(fork({ bytes }).content).at(-2)?.uuid).toBe(AFTER_TURN_1);
});

test("the agent's own backups of files are not offered to the fork", () => {
  const bytes = transcript("interrupted");
  expect(linesOf(bytes).some((line) => line.type === "file-history-snapshot")).toBe(true);
  expect(linesOf(fork({ bytes, lastId: null }).content).some((line) => line.type.startsWith("file-history"))).toBe(
    false,
  );
});

test("it is beside the original, or where another work tree's sessions are", () => {
  const path = (projectRoot: string, transcriptPath: string) => fork({ projectRoot, transcriptPath }).transcriptPath;
  const projects = "/home/dev/.claude/projects";
  expect(path("/home/dev/project", `${projects}/-home-dev-project-sub/2.jsonl`)).toBe(
    `${projects}/-home-dev-project-sub/${NEW_ID}.jsonl`,
  );
  expect(path("/home/dev/my_other.tree", `${projects}/-home-dev-project/2.jsonl`)).toBe(
    `${projects}/-home-dev-my-other-tree/${NEW_ID}.jsonl`,
  );
});

test("the command continues that session", () => {
  expect(shellText(forker.resumeCommand(NEW_ID))).toBe(`claude --resume ${NEW_ID}`);
  expect(shellText(forker.resumeCommand("a'; rm -rf x"))).toBe(`claude --resume 'a'\\''; rm -rf x'`);
});
