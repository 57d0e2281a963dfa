import { expect, test } from "bun:test";
import type { ForkRequest } from "../../../src/agents/contract/agent.ts";
import { shellText } from "../../../src/model/command.ts";
import { forker, linesOf, transcript, upTo } from "./recorded.ts";

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

test("a conversation that had not begun has nothing to fork", () => {
  expect(fork({ bytes: upTo("two-turns", '"id":"context-') }).content).toHaveLength(0);
  expect(fork({ bytes: upTo("two-turns", '"id":"1ad451ae') }).content.length).toBeGreaterThan(0);
});

test("for another work tree it is stored there and begins there", () => {
  const { transcriptPath, content } = fork({ projectRoot: "/home/dev/other.tree" });
  expect(transcriptPath).toBe(`/home/dev/.factory/sessions/-home-dev-other.tree/${NEW_ID}.jsonl`);
  expect(linesOf(content)[0]).toMatchObject({ cwd: "/home/dev/other.tree" });
});

test("the command continues that session", () => {
  expect(shellText(forker.resumeCommand(NEW_ID))).toBe(`droid --resume ${NEW_ID}`);
});
