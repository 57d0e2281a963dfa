import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "../../../src/model/event.ts";
import { eventOf, preparer, transcript, upTo } from "./recorded.ts";

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function file(content: Uint8Array): string {
  const directory = mkdtempSync(join(tmpdir(), "copilot-"));
  directories.push(directory);
  const path = join(directory, "events.jsonl");
  writeFileSync(path, content);
  return path;
}

async function timeFor(event: Event | null, path: string, from = 0): Promise<number> {
  if (!event) throw new Error("no event");
  const start = performance.now();
  await preparer.waitForTurn(event, path, from);
  return performance.now() - start;
}

const stopped = upTo("three-turns", '"hookType":"agentStop"');

test("where the hook itself is written down, nothing is waited for", async () => {
  expect(await timeFor(eventOf("agentStop"), file(stopped))).toBeLessThan(450);
});

test("the hook waits for entries that are written while it runs", async () => {
  const before = upTo("three-turns", '"type":"user.message"');
  const path = file(before);
  let isWritten = false;
  setTimeout(() => {
    appendFileSync(path, stopped.subarray(before.length));
    isWritten = true;
  }, 100);
  await timeFor(eventOf("agentStop"), path, before.length);
  expect(isWritten).toBe(true);
});

test("an earlier turn's end is not this one's, and the waiting is bounded", async () => {
  const later = eventOf("agentStop", { timestamp: 1794798060018 });
  const began = upTo("three-turns", '"type":"session.resume"');
  expect(await timeFor(later, file(began))).toBeGreaterThan(500);
  expect(await timeFor(later, file(transcript("three-turns")), began.length)).toBeLessThan(450);
  expect(await timeFor(later, "/nowhere/events.jsonl")).toBeLessThan(2_000);
});
