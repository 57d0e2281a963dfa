import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "../../../src/model/event.ts";
import { eventOf, payload, preparer, transcriptBefore } from "./recorded.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flush-"));
  path = join(directory, "session.jsonl");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const stop = eventOf(payload("Stop")) as Event;
const lastWords = '"text":"Done: wrote a.txt."';
const unfinished = transcriptBefore("three-turns", lastWords);
const finished = transcriptBefore("three-turns", '"content":"Next do [[turn2]] please"}');
const rest = finished.subarray(unfinished.length);

/** Resolves with true if the wait ended before `act` was called. */
async function endedBefore(act: () => void, event: Event, from = 0): Promise<boolean> {
  let ended = false;
  const wait = preparer.waitForTurn(event, path, from).then(() => {
    ended = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 40));
  const before = ended;
  act();
  await wait;
  return before;
}

test("there is no wait if the transcript is already written", async () => {
  writeFileSync(path, finished);
  expect(await endedBefore(() => {}, stop)).toBe(true);
});

test("waits for the last words, which may come in pieces", async () => {
  writeFileSync(path, unfinished);
  appendFileSync(path, rest.subarray(0, 100));
  expect(await endedBefore(() => appendFileSync(path, rest.subarray(100)), stop)).toBe(false);
});

test("the same words in an earlier turn don't count", async () => {
  writeFileSync(path, finished);
  expect(await endedBefore(() => appendFileSync(path, rest), stop, finished.length)).toBe(false);
});

test("the same words before a tool's result don't count", async () => {
  const words = { type: "assistant", uuid: "a", message: { content: [{ type: "text", text: "Done: wrote a.txt." }] } };
  const result = { type: "user", uuid: "b", message: { content: [{ type: "tool_result", tool_use_id: "t" }] } };
  writeFileSync(path, `${JSON.stringify(words)}\n${JSON.stringify(result)}\n`);
  expect(await endedBefore(() => appendFileSync(path, rest), stop)).toBe(false);
});

test("waits for a file that isn't there yet", async () => {
  expect(await endedBefore(() => writeFileSync(path, finished), stop)).toBe(false);
});

test("finds the last words behind a long line of bookkeeping", async () => {
  const long = Buffer.from(`${JSON.stringify({ type: "api-request", blob: "x".repeat(100_000) })}\n`);
  writeFileSync(path, Buffer.concat([finished, long]));
  expect(await endedBefore(() => {}, stop)).toBe(true);
});

test("gives up in the end, and on anything that is no file", async () => {
  writeFileSync(path, unfinished);
  await preparer.waitForTurn(stop, path, 0);
  await preparer.waitForTurn({ ...stop, response: null }, directory, 0);
  await preparer.waitForTurn({ ...stop, response: null }, join(directory, "missing"), 0);
});

test("without last words, an answer that uses no tool is the end", async () => {
  writeFileSync(path, finished);
  expect(await endedBefore(() => {}, { ...stop, response: null })).toBe(true);
});
