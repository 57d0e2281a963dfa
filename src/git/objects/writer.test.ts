import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome, runs } from "../../../test/support/own-process.ts";
import { readLoose } from "./loose.ts";
import { ObjectReader } from "./reader.ts";
import { compareTrees, prefetchDiff } from "./tree-diff.ts";
import { FILE_MODE, parseTree, serializeTree, TREE_MODE, type TreeEntry, TreeStore } from "./trees.ts";
import { ObjectWriter } from "./writer.ts";

ownHome();

function packs(repository: TemporaryRepository): string[] {
  return readdirSync(repository.at(".git", "objects", "pack")).sort();
}

function contents(count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => Buffer.alloc(i * 37, `content ${i} `));
}

function stored(repository: TemporaryRepository, id: string): Buffer {
  return execFileSync("git", ["cat-file", "blob", id], {
    cwd: repository.path,
    env: repository.environment(),
    maxBuffer: 1 << 26,
  });
}

for (const format of ["sha1", "sha256"] as const) {
  test(`${format}: a few objects are loose, many are one pack, and git finds nothing wrong with either`, async () => {
    using repository = temporaryFolder();
    repository.git("init", "--quiet", `--object-format=${format}`);
    const workspace = await enabledWorkspace(repository.path);
    for (const count of [1, 9, 10, 300]) {
      const writer = new ObjectWriter(workspace);
      const all = contents(count);
      const ids = all.map((data) => writer.add("blob", data));
      const tree = serializeTree(new Map(ids.map((id, i) => [`f${i}`, { mode: FILE_MODE, id }])));
      const root = writer.add("tree", tree);
      writer.flush();
      expect(repository.git("cat-file", "-t", root)).toBe("tree");
      expect(stored(repository, ids[count - 1] ?? "")).toEqual(all[count - 1] ?? Buffer.alloc(0));
    }
    const named = packs(repository).filter((name) => name.endsWith(".pack"));
    expect(named).toHaveLength(2);
    for (const name of named) repository.git("verify-pack", repository.at(".git", "objects", "pack", name));
    repository.git("fsck", "--strict", "--full");
    repository.git("gc", "--quiet");
    repository.git("fsck", "--strict", "--full");
  });
}

test("objects of every size come back the same, loose and packed", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const sizes = [0, 1, 15, 16, 127, 128, 2047, 2048, 65_535, 65_536, (1 << 20) - 1, 1 << 20, 5_000_000];
  for (const filling of [0, 60]) {
    const writer = new ObjectWriter(workspace);
    const all = sizes.map((size) => Buffer.alloc(size, `${size} of ${filling} `));
    const ids = all.map((data) => writer.add("blob", data));
    for (let i = 0; i < filling; i++) writer.add("blob", Buffer.from(`filling ${i}`));
    writer.flush();
    const reader = new ObjectReader(workspace);
    for (const [i, id] of ids.entries()) {
      expect(stored(repository, id).equals(all[i] ?? Buffer.alloc(0))).toBe(true);
      expect((await reader.require(id, "blob")).equals(all[i] ?? Buffer.alloc(0))).toBe(true);
    }
    reader.close();
  }
  repository.git("fsck", "--strict", "--full");
});

test("a wide tree is loose, however many objects there are beside it", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const writer = new ObjectWriter(workspace);
  const [id = ""] = contents(60).map((data) => writer.add("blob", data));
  const names = Array.from({ length: 2_000 }, (_, i) => `file-${i}`);
  const wide = writer.add("tree", serializeTree(new Map(names.map((name) => [name, { mode: FILE_MODE, id }]))));
  writer.flush();
  expect(readLoose(repository.at(".git", "objects"), wide)?.data.length).toBeGreaterThan(2_000 * 28);
  expect(readLoose(repository.at(".git", "objects"), id)).toBeUndefined();
  expect(repository.git("ls-tree", wide).split("\n")).toHaveLength(2_000);
  repository.git("fsck", "--strict", "--full");
});

test("an existing object is not rewritten but touched, so that a prune keeps it", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const write = (data: Buffer[]) => {
    const writer = new ObjectWriter(workspace);
    const ids = data.map((one) => writer.add("blob", one));
    writer.flush();
    return ids;
  };
  const [id = ""] = write([Buffer.from("once")]);
  const loose = repository.at(".git", "objects", id.slice(0, 2), id.slice(2));
  write(contents(60));
  const pack = repository.at(".git", "objects", "pack", packs(repository).find((name) => name.endsWith(".pack")) ?? "");
  const before = packs(repository);
  for (const path of [loose, pack]) utimesSync(path, new Date(0), new Date(0));
  const { ino } = statSync(loose);
  write([Buffer.from("once")]);
  write(contents(60));
  expect(statSync(loose).ino).toBe(ino);
  expect(packs(repository)).toEqual(before);
  for (const path of [loose, pack]) expect(statSync(path).mtimeMs).toBeGreaterThan(1_000_000);
});

test("a temporary file that a killed process with the same id left is no obstacle", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const writer = new ObjectWriter(workspace);
  const id = writer.add("blob", Buffer.from("again"));
  const directory = repository.at(".git", "objects", id.slice(0, 2));
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/tmp_obj_${process.pid}_${id.slice(2, 14)}`, "torn");
  writer.flush();
  expect(repository.git("cat-file", "blob", id)).toBe("again");
});

test("the reader answers for loose, packed, missing and named objects, many at once", async () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 40; i++) repository.write(`f${i}`, `${i}\n`.repeat(i * 100));
  repository.commit("second");
  repository.git("gc", "--quiet");
  const workspace = await enabledWorkspace(repository.path);
  const reader = new ObjectReader(workspace);
  try {
    const ids = repository.git("ls-tree", "--format=%(objectname)", "HEAD").split("\n");
    const asked = ids.flatMap((id) => [reader.read(id), reader.read("0".repeat(40)), reader.read("HEAD^{tree}")]);
    const answers = await Promise.all(asked);
    expect(answers.map((answer) => answer?.type)).toEqual(ids.flatMap(() => ["blob", undefined, "tree"]));
    expect(answers[0]?.id).toBe(ids[0] ?? "");
    expect(reader.require("0".repeat(40), "blob")).rejects.toThrow("is missing");
    expect(reader.require(ids[0] ?? "", "tree")).rejects.toThrow("is a blob, not a tree");
  } finally {
    reader.close();
  }
  expect(reader.read("HEAD")).rejects.toThrow("ended");
});

const name = fc.oneof(
  fc.constantFrom("a", "a.b", "a-b", "a0", "ab", "ü", "bad\udcff", "z z"),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 6 })
    .filter((text) => !/[/\0]/.test(text) && !/^\.{1,2}$/.test(text)),
);

test("a tree is read back as it was written, in the order that git demands", () => {
  const entry = fc.record({
    mode: fc.constantFrom(FILE_MODE, TREE_MODE, "120000", "160000"),
    id: fc.constant("ab".repeat(20)),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, entry)), (entries) => {
      const tree = new Map(entries);
      const written = serializeTree(tree);
      expect(new Map(parseTree(written, "sha1"))).toEqual(tree);
      expect(serializeTree(new Map([...tree].reverse()))).toEqual(written);
    }),
    runs(100),
  );
});

test("how large an object is, is known without reading it", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const id = repository.git("hash-object", "-w", repository.write("file", "twelve bytes"));
  const reader = new ObjectReader(workspace);
  try {
    const asked = [reader.sizeOf(id), reader.read(`${id}^{blob}`), reader.sizeOf("0".repeat(40)), reader.sizeOf(id)];
    const [size, object, none, again] = await Promise.all(asked);
    expect([size, none, again]).toEqual([12, undefined, 12]);
    expect(object).toMatchObject({ data: Buffer.from("twelve bytes") });
  } finally {
    reader.close();
  }
});

test("a damaged tree is an error, not an endless loop", () => {
  const tree = serializeTree(new Map([["name", { mode: FILE_MODE, id: "ab".repeat(20) }]]));
  for (let length = 1; length < tree.length; length++)
    expect(() => parseTree(tree.subarray(0, length), "sha1")).toThrow("damaged");
});

test("changes made to a tree are what git's index makes of them; the difference names exactly them", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const blob = repository.git("hash-object", "-w", repository.write("file", "x"));
  const other = repository.git("hash-object", "-w", repository.write("file", "y"));
  const place = fc.constantFrom("a", "a/b", "a/b/c", "a.b/c", "a-b", "d/e", "d/f", "d.e", "ü/x");
  const changes = fc.uniqueArray(fc.tuple(place, fc.constantFrom(blob, other, null)), { selector: ([path]) => path });
  const property = fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 3 }), async (rounds) => {
    const reader = new ObjectReader(workspace);
    try {
      const writer = new ObjectWriter(workspace);
      const trees = new TreeStore(reader, writer);
      let tree: string | null = null;
      const model = new Map<string, string>();
      for (const round of rounds) {
        // No path may lie below another that stays a file.
        const sane = round.filter(([path, id]) => id === null || !conflicts(path, model, round));
        const before: string | null = tree;
        const old = new Map(model);
        for (const [path, id] of sane) if (id === null) remove(path, model);
        for (const [path, id] of sane) if (id !== null) model.set(path, id);
        const made = new Map<string, TreeEntry | null>(
          sane.map(([path, id]) => [path, id === null ? null : { mode: FILE_MODE, id }]),
        );
        tree = await trees.apply(tree, made);
        const found = await compareTrees(trees, before, tree);
        const expected = [...new Set([...old.keys(), ...model.keys()])]
          .filter((path) => old.get(path) !== model.get(path))
          .sort();
        expect(found.map((one) => one.path).sort()).toEqual(expected);
        if (before === null) continue;
        writer.flush();
        const others = new TreeStore(reader, writer);
        prefetchDiff(workspace, others, before, tree);
        expect(await compareTrees(others, before, tree)).toEqual(found);
      }
      writer.flush();
      const listed = repository.git(
        "-c",
        "core.quotePath=false",
        "ls-tree",
        "-r",
        "--format=%(objectname) %(path)",
        tree ?? "",
      );
      const lines = [...model].map(([path, id]) => `${id} ${path}`).sort();
      expect(listed.split("\n").filter(Boolean).sort()).toEqual(lines);
    } finally {
      reader.close();
    }
  });
  await fc.assert(property, runs(25));
  repository.git("fsck", "--strict");
});

/** What is removed goes with everything below it. */
function remove(path: string, model: Map<string, string>): void {
  for (const known of model.keys()) if (known === path || known.startsWith(`${path}/`)) model.delete(known);
}

function conflicts(path: string, model: Map<string, string>, round: [string, string | null][]): boolean {
  const all = [...model.keys(), ...round.filter(([, id]) => id !== null).map(([other]) => other)];
  return all.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
}
