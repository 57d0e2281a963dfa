/** Uniting loses nothing, does not care whose side it is on, and does it once. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { temporaryRepository } from "../../../test/support/index.ts";
import { runs } from "../../../test/support/own-process.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { FILE_MODE, TREE_MODE } from "../../git/objects/trees.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { layoutJson, METADATA_FILE, TRANSCRIPT_FILE } from "../format/layout.ts";
import { parseSessionMetadata } from "../format/parse.ts";
import { blobOf, openObjects } from "../write/write.ts";
import { differing, mergeCheckpointTrees } from "./merge-trees.ts";

interface Session {
  id: string;
  turns: number;
  said: string;
  summary: boolean;
}

/** Checkpoint → its sessions, in order. */
type Side = Record<string, Session[]>;

const session = fc.record({
  id: fc.constantFrom("s1", "s2", "s3"),
  turns: fc.integer({ min: 1, max: 3 }),
  said: fc.constantFrom("a\n", "a\nb\n", "c\n"),
  summary: fc.boolean(),
});
const side: fc.Arbitrary<Side> = fc.dictionary(
  fc.constantFrom("aa0000000001", "aa0000000002", "bb0000000001"),
  fc.uniqueArray(session, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
);

function blob({ writer }: ObjectStore, text: string) {
  return { mode: FILE_MODE, id: writer.add("blob", Buffer.from(text)) };
}

async function treeFrom(objects: ObjectStore, checkpoints: Side, more: Record<string, string> = {}): Promise<string> {
  const changes = new Map(Object.entries(more).map(([path, text]) => [path, blob(objects, text)]));
  for (const [id, sessions] of Object.entries(checkpoints)) {
    const path = `${id.slice(0, 2)}/${id.slice(2)}`;
    if (!more[`${path}/${METADATA_FILE}`])
      changes.set(`${path}/${METADATA_FILE}`, blob(objects, layoutJson({ checkpoint_id: id })));
    sessions.forEach(({ id: name, turns, said, summary }, index) => {
      const metadata = {
        session_id: name,
        agent: "A",
        created_at: `2026-01-0${name.slice(1)}`,
        checkpoints_count: turns,
      };
      const text = layoutJson({ ...metadata, kept: "by others", ...(summary ? { summary: { intent: name } } : {}) });
      changes.set(`${path}/${index}/${METADATA_FILE}`, blob(objects, text));
      changes.set(`${path}/${index}/${TRANSCRIPT_FILE}`, blob(objects, said));
    });
  }
  const root = await objects.trees.apply(null, changes);
  objects.writer.flush();
  return root;
}

async function sessionsOf(objects: ObjectStore, root: string, id: string) {
  const at = async (tree: string | null, name: string) => (await objects.trees.read(tree)).get(name);
  const shard = await at(root, id.slice(0, 2));
  const checkpoint = await at(shard?.id ?? null, id.slice(2));
  const found: { id: string; turns: number; summary: boolean }[] = [];
  for (let n = 0; ; n++) {
    const entry = await at(checkpoint?.id ?? null, String(n));
    if (entry?.mode !== TREE_MODE) return found;
    const data = await blobOf(objects.reader, await at(entry.id, METADATA_FILE));
    const parsed = parseSessionMetadata(data ?? Buffer.alloc(0));
    if (!parsed.ok) throw new Error(parsed.reason);
    expect(JSON.parse(data?.toString() ?? "{}").kept).toBe("by others");
    const { session_id, checkpoints_count, summary } = parsed.value;
    found.push({ id: session_id, turns: checkpoints_count, summary: summary !== undefined });
  }
}

function opened() {
  const repository = temporaryRepository();
  const workspace = findWorkspace(repository.path);
  if (!workspace) throw new Error("No workspace.");
  const objects = openObjects(workspace);
  const done = () => {
    objects.reader.close();
    repository.remove();
  };
  return { objects, [Symbol.dispose]: done };
}

test("every session of both sides is there, with as many turns as the richer one has, whoever unites", async () => {
  using place = opened();
  const { objects } = place;
  await fc.assert(
    fc.asyncProperty(side, side, fc.option(side), async (left, right, before) => {
      const [ours, theirs] = [await treeFrom(objects, left), await treeFrom(objects, right)];
      const base = before === null ? null : await treeFrom(objects, before);
      const united = await mergeCheckpointTrees(objects, { ours, theirs, base: null });
      objects.writer.flush();
      expect(await mergeCheckpointTrees(objects, { ours: theirs, theirs: ours, base: null })).toBe(united);
      expect(await mergeCheckpointTrees(objects, { ours: united, theirs, base: null })).toBe(united);
      const based = await mergeCheckpointTrees(objects, { ours, theirs, base });
      objects.writer.flush();
      for (const id of new Set([...Object.keys(left), ...Object.keys(right)])) {
        const both = [...(left[id] ?? []), ...(right[id] ?? [])];
        const names = [...new Set(both.map((one) => one.id))].sort();
        const found = await sessionsOf(objects, united, id);
        expect(found.map((one) => one.id).sort()).toEqual(names);
        for (const one of found) {
          const same = both.filter((other) => other.id === one.id);
          expect(one.turns).toBe(Math.max(...same.map(({ turns }) => turns)));
          expect(one.summary).toBe(same.some(({ summary }) => summary));
        }
        // With what both began with known, a side that did not change gives way; ours never loses a session to that.
        const kept = (await sessionsOf(objects, based, id)).map((one) => one.id);
        for (const one of left[id] ?? []) expect(kept).toContain(one.id);
      }
    }),
    runs(60),
  );
});

test("a side that did not change gives way, unless the other has less", async () => {
  using place = opened();
  const { objects } = place;
  const one = (turns: number, said = "a\n"): Side => ({ aa0000000001: [{ id: "s1", turns, said, summary: false }] });
  const [base, more, less] = [
    await treeFrom(objects, one(2)),
    await treeFrom(objects, one(3)),
    await treeFrom(objects, one(1)),
  ];
  const redacted = await treeFrom(objects, one(2, "c\n"));
  expect(await mergeCheckpointTrees(objects, { ours: base, theirs: more, base })).toBe(more);
  expect(await mergeCheckpointTrees(objects, { ours: more, theirs: base, base })).toBe(more);
  expect(await mergeCheckpointTrees(objects, { ours: redacted, theirs: base, base })).toBe(redacted);
  expect(await mergeCheckpointTrees(objects, { ours: base, theirs: less, base })).toBe(base);
  expect(await differing(objects, base, more)).toEqual(["aa0000000001"]);
  expect(await differing(objects, base, null)).toEqual(["aa0000000001"]);
});

test("other files are kept from both sides; of two versions, the larger", async () => {
  using place = opened();
  const { objects } = place;
  const ours = await treeFrom(objects, {}, { "README.md": "long\n", "zz/x": "ours" });
  const theirs = await treeFrom(objects, {}, { "README.md": "longer\n", "yy/deep/er/y": "theirs", "zz/x/y": "below" });
  const united = await mergeCheckpointTrees(objects, { ours, theirs, base: null });
  expect(await mergeCheckpointTrees(objects, { ours: theirs, theirs: ours, base: null })).toBe(united);
  const expected = await treeFrom(
    objects,
    {},
    { "README.md": "longer\n", "yy/deep/er/y": "theirs", "zz/x/y": "below" },
  );
  expect(united).toBe(expected);
});

test("names that no tree may have are left where they are", async () => {
  using place = opened();
  const { objects } = place;
  const ours = await treeFrom(objects, {}, { "README.md": "ours\n" });
  const file = blob(objects, "theirs");
  const names = ["..", ".", ".git", ".GIT", "a/b", "fine"];
  const theirs = objects.trees.write(new Map(names.map((name) => [name, file])));
  const united = await mergeCheckpointTrees(objects, { ours, theirs, base: null });
  expect([...(await objects.trees.read(united)).keys()].sort()).toEqual(["README.md", "fine"]);
});

test("links of rewritten commits are joined; other lines are not", async () => {
  using place = opened();
  const { objects } = place;
  const one: Side = { aa0000000001: [{ id: "s1", turns: 1, said: "a\n", summary: false }] };
  const [first, second] = ["1".repeat(40), "2".repeat(40)];
  const file = (links: unknown) => ({ "aa/0000000001/backtrail-links.json": JSON.stringify({ v: 1, links }) });
  const ours = await treeFrom(objects, one, file({ [first]: ["bb0000000001"] }));
  const theirs = await treeFrom(
    objects,
    one,
    file({ [first]: ["bb0000000002", "../x", 7], [second]: ["cc0000000001"], x: [] }),
  );
  const united = await mergeCheckpointTrees(objects, { ours, theirs, base: null });
  objects.writer.flush();
  expect(await mergeCheckpointTrees(objects, { ours: theirs, theirs: ours, base: null })).toBe(united);
  const shard = (await objects.trees.read(united)).get("aa");
  const checkpoint = (await objects.trees.read(shard?.id ?? null)).get("0000000001");
  const entry = (await objects.trees.read(checkpoint?.id ?? null)).get("backtrail-links.json");
  expect(JSON.parse((await blobOf(objects.reader, entry))?.toString() ?? "")).toEqual({
    v: 1,
    links: { [first]: ["bb0000000001", "bb0000000002"], [second]: ["cc0000000001"] },
  });
});

test("what other tools say of a checkpoint and of its sessions' files stays", async () => {
  using place = opened();
  const { objects } = place;
  const side = (id: string): Side => ({ aa0000000001: [{ id, turns: 1, said: "a\n", summary: false }] });
  const said = (fields: object) => ({ "aa/0000000001/metadata.json": JSON.stringify(fields) });
  const paths = { metadata: "/aa/0000000001/0/metadata.json", compact_transcript: "/x" };
  const ours = await treeFrom(objects, side("s1"), said({ has_review: true, sessions: [paths] }));
  const theirs = await treeFrom(
    objects,
    side("s2"),
    said({ imported: true, sessions: [{ compact_transcript: "/y" }] }),
  );
  const united = await mergeCheckpointTrees(objects, { ours, theirs, base: null });
  objects.writer.flush();
  expect(await mergeCheckpointTrees(objects, { ours: theirs, theirs: ours, base: null })).toBe(united);
  const shard = (await objects.trees.read(united)).get("aa");
  const checkpoint = (await objects.trees.read(shard?.id ?? null)).get("0000000001");
  const entry = (await objects.trees.read(checkpoint?.id ?? null)).get(METADATA_FILE);
  expect(JSON.parse((await blobOf(objects.reader, entry))?.toString() ?? "")).toMatchObject({
    checkpoint_id: "aa0000000001",
    checkpoints_count: 2,
    has_review: true,
    imported: true,
    sessions: [paths, { metadata: "/aa/0000000001/1/metadata.json", transcript: "/aa/0000000001/1/full.jsonl" }],
  });
});
