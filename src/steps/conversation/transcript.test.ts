import { expect, test } from "bun:test";
import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { temporaryRepository } from "../../../test/support/index.ts";
import { toOldLayout } from "../../../test/support/old-layout.ts";
import { enabledWorkspace, ownHome, runs } from "../../../test/support/own-process.ts";
import { keyFor, save } from "../../../test/support/saving.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import type { Workspace } from "../../git/workspace.ts";
import { sessionLock } from "../session-tree.ts";
import {
  conversationDirectory,
  readSegments,
  rewriteStream,
  type Segment,
  segmentFile,
  writeSegment,
} from "./files.ts";
import { joinConversations } from "./join.ts";
import { readTranscript } from "./transcript.ts";

ownHome();

type Piece = Partial<Segment> & Pick<Segment, "offset" | "data">;

function add(workspace: Workspace, key: string, pieces: Piece[]): void {
  for (const piece of pieces)
    writeSegment(conversationDirectory(workspace, key), { stream: "transcript", generation: 0, ...piece });
}

/** However the parts are cut, as pieces that follow each other. */
function piecesOf(parts: readonly Uint8Array[]): Piece[] {
  return parts.map((data, i) => ({ offset: parts.slice(0, i).reduce((sum, part) => sum + part.length, 0), data }));
}

test("a transcript is read back byte for byte, up to any point, however it was cut into segments", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  let session = 0;
  const property = fc.asyncProperty(
    fc.array(fc.uint8Array({ minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 12 }),
    fc.array(fc.nat({ max: 11 }), { maxLength: 4 }),
    fc.nat({ max: 400 }),
    async (parts, repeated, end) => {
      const key = `${session++}`;
      const pieces = piecesOf(parts);
      add(workspace, key, pieces);
      // Saves that are repeated after a crash.
      for (const i of repeated) add(workspace, key, pieces.slice(i, i + 1));
      const whole = Buffer.concat(parts);
      const check = async () => {
        expect(await readTranscript(workspace, key, 0, whole.length)).toEqual(whole);
        expect(await readTranscript(workspace, key, 0, end)).toEqual(whole.subarray(0, end));
        expect(await readTranscript(workspace, key, 1, end)).toEqual(Buffer.alloc(0));
      };
      await check();
      const directory = conversationDirectory(workspace, key);
      rewriteStream(directory, "transcript", 0, readSegments(directory, "transcript", 0, Number.POSITIVE_INFINITY));
      expect(readdirSync(join(directory, "transcript", "0"))).toHaveLength(1);
      await check();
    },
  );
  await fc.assert(property, runs(15));
});

test("a longer segment replaces one that a killed process left at the same offset", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  add(workspace, "one", [{ offset: 0, data: Buffer.from("one\n") }]);
  add(workspace, "one", [{ offset: 0, data: Buffer.from("one\ntwo\n") }]);
  add(workspace, "one", [{ offset: 8, data: Buffer.from("three\n") }]);
  expect((await readTranscript(workspace, "one", 0, 100)).toString()).toBe("one\ntwo\nthree\n");
});

test("generations and subagents have separate conversations; a gap or a damaged file ends the readable part", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  add(workspace, "one", [
    { offset: 0, data: Buffer.from("first\n") },
    { offset: 0, generation: 1, data: Buffer.from("rewritten\n") },
    { offset: 0, stream: "tasks/kkkkkkkkkkkk", data: Buffer.from("task\n") },
    { offset: 20, data: Buffer.from("after a gap\n") },
  ]);
  expect((await readTranscript(workspace, "one", 0, 100)).toString()).toBe("first\n");
  expect((await readTranscript(workspace, "one", 1, 100)).toString()).toBe("rewritten\n");
  expect((await readTranscript(workspace, "one", 0, 100, "tasks/kkkkkkkkkkkk")).toString()).toBe("task\n");
  expect(await readTranscript(workspace, "none", 0, 100)).toEqual(Buffer.alloc(0));
  const directory = conversationDirectory(workspace, "one");
  rewriteStream(directory, "transcript", 0, readSegments(directory, "transcript", 0, Number.POSITIVE_INFINITY));
  expect(readdirSync(join(directory, "transcript", "0"))).toHaveLength(2);
  add(workspace, "one", [{ offset: 6, data: Buffer.from("second\n") }]);
  truncateSync(segmentFile(directory, { stream: "transcript", generation: 0, offset: 6 }), 8);
  expect((await readTranscript(workspace, "one", 0, 100)).toString()).toBe("first\n");
});

test("only the user can read them", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  add(workspace, "one", [{ offset: 0, data: Buffer.from("first\n") }]);
  const file = segmentFile(conversationDirectory(workspace, "one"), { stream: "transcript", generation: 0, offset: 0 });
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  for (let path = join(file, ".."); path !== join(workspace.storeDir, ".."); path = join(path, ".."))
    expect((statSync(path).mode & 0o777).toString(8)).toBe("700");
});

test("segments that an earlier version stored as objects are read together with newer ones", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const segment = { stream: "transcript", generation: 0, offset: 0, data: Buffer.from("first\n") };
  await save(workspace, [{ session: "one", segments: [segment] }]);
  await toOldLayout(workspace);
  await save(workspace, [{ session: "one", segments: [{ ...segment, offset: 6, data: Buffer.from("second\n") }] }]);
  expect((await readTranscript(workspace, keyFor("one"), 0, 100)).toString()).toBe("first\nsecond\n");
  expect((await readTranscript(workspace, keyFor("one"), 0, 8)).toString()).toBe("first\nse");
});

test("many small segments, and those that no hook had time to compress, become few", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const [many, large, few] = [keyFor("many"), keyFor("large"), keyFor("few")];
  const lines = Array.from({ length: 100 }, (_, i) => Buffer.from(`line ${i}\n`));
  add(workspace, many, piecesOf(lines));
  add(workspace, few, piecesOf(lines.slice(0, 3)));
  const text = Buffer.from("the same words again and again\n".repeat(100_000));
  add(workspace, large, [{ offset: 0, data: text }]);
  const folder = (key: string) => join(conversationDirectory(workspace, key), "transcript", "0");
  const sizes = (key: string) => readdirSync(folder(key)).map((name) => statSync(join(folder(key), name)).size);
  expect(sizes(large)[0]).toBeGreaterThan(text.length);
  const busy = tryAcquire(sessionLock(workspace, many));
  joinConversations(workspace);
  expect([sizes(many).length, sizes(few).length]).toEqual([100, 3]);
  busy?.release();
  joinConversations(workspace);
  expect([sizes(many).length, sizes(few).length]).toEqual([1, 3]);
  expect(sizes(large)[0]).toBeLessThan(text.length / 10);
  expect((await readTranscript(workspace, many, 0, 10_000)).equals(Buffer.concat(lines))).toBe(true);
  expect((await readTranscript(workspace, large, 0, text.length)).equals(text)).toBe(true);
});
