import { expect, test } from "bun:test";
import fc from "fast-check";
import { temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome, runs } from "../../test/support/own-process.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { TREE_MODE, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { directoryAt, moveSession, prepareSession, sessionRef } from "./session-tree.ts";
import { readTranscript } from "./transcript.ts";

ownHome();

interface Piece {
  stream?: string;
  generation?: number;
  offset: number;
  data: Uint8Array;
}

class Recorder implements Disposable {
  readonly trees: TreeStore;
  readonly #workspace: Workspace;
  readonly #writer: ObjectWriter;
  readonly #reader: ObjectReader;
  #steps = 0;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#reader = new ObjectReader(workspace);
    this.#writer = new ObjectWriter(workspace);
    this.trees = new TreeStore(this.#reader, this.#writer);
  }

  async add(key: string, pieces: Piece[], late = false): Promise<void> {
    const segments = pieces.map(({ stream = "transcript", generation = 0, offset, data }) => ({
      stream,
      generation,
      offset,
      id: this.#writer.add("blob", data),
    }));
    const stepId = `kkkk${String(this.#steps++)
      .padStart(8, "0")
      .replace(/\d/g, (digit) => "lmnopqrstu".charAt(Number(digit)))}`;
    const stepTree = this.trees.write(new Map());
    const step = { id: stepId, time: "2026-01-05T09:00:00.000Z" };
    const prepare = async () => {
      const change = await prepareSession(this.#workspace, this.trees, key, [{ step, stepTree, segments, late }]);
      this.#writer.flush();
      return change;
    };
    await moveSession(this.#workspace, key, await prepare(), prepare);
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }
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
      using recorder = new Recorder(workspace);
      const key = `${session++}`;
      const pieces = parts.map((data, i) => ({
        offset: parts.slice(0, i).reduce((sum, part) => sum + part.length, 0),
        data,
      }));
      for (const piece of pieces) await recorder.add(key, [piece]);
      // Saves that are finished twice.
      for (const i of repeated) {
        const piece = pieces[i];
        if (piece) await recorder.add(key, [piece]);
      }
      const whole = Buffer.concat(parts);
      expect(await readTranscript(workspace, key, 0, whole.length)).toEqual(whole);
      expect(await readTranscript(workspace, key, 0, end)).toEqual(whole.subarray(0, end));
      expect(await readTranscript(workspace, key, 1, end)).toEqual(Buffer.alloc(0));
    },
  );
  await fc.assert(property, runs(15));
});

test("a save that is finished late does not replace what was saved since", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  using recorder = new Recorder(workspace);
  await recorder.add("one", [{ offset: 0, data: Buffer.from("one\ntwo\n") }]);
  await recorder.add("one", [{ offset: 8, data: Buffer.from("three\n") }]);
  await recorder.add("one", [{ offset: 0, data: Buffer.from("one\n") }], true);
  expect((await readTranscript(workspace, "one", 0, 100)).toString()).toBe("one\ntwo\nthree\n");
});

test("thousands of segments lie in small groups, in order", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  using recorder = new Recorder(workspace);
  const parts: Buffer[] = [];
  let offset = 0;
  for (let event = 0; event < 40; event++) {
    const pieces: Piece[] = [];
    for (let i = 0; i < 60; i++) {
      const data = Buffer.from(`${event}.${i}\n`);
      pieces.push({ offset, data });
      parts.push(data);
      offset += data.length;
    }
    await recorder.add("many", pieces);
  }
  expect((await readTranscript(workspace, "many", 0, offset)).equals(Buffer.concat(parts))).toBe(true);
  const root = repository.git("rev-parse", sessionRef("many"));
  const groups = await directoryAt(recorder.trees, root, "transcript/0");
  expect(groups.size).toBe(Math.ceil(2_400 / 128));
  for (const group of groups.values()) {
    expect(group.mode).toBe(TREE_MODE);
    expect((await recorder.trees.read(group.id)).size).toBeLessThanOrEqual(128);
  }
});

test("generations and subagents have conversations of their own; a gap ends what can be read", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  using recorder = new Recorder(workspace);
  await recorder.add("one", [
    { offset: 0, data: Buffer.from("first\n") },
    { offset: 0, generation: 1, data: Buffer.from("rewritten\n") },
    { offset: 0, stream: "tasks/kkkkkkkkkkkk", data: Buffer.from("task\n") },
    { offset: 20, data: Buffer.from("after a gap\n") },
  ]);
  expect((await readTranscript(workspace, "one", 0, 100)).toString()).toBe("first\n");
  expect((await readTranscript(workspace, "one", 1, 100)).toString()).toBe("rewritten\n");
  expect((await readTranscript(workspace, "one", 0, 100, "tasks/kkkkkkkkkkkk")).toString()).toBe("task\n");
  expect(await readTranscript(workspace, "none", 0, 100)).toEqual(Buffer.alloc(0));
});
