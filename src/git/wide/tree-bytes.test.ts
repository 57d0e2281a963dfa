import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseTree, serializeTree, type Tree, type TreeEntry } from "../objects/trees.ts";
import { WideTree } from "./tree-bytes.ts";

const id = (hash: "sha1" | "sha256") =>
  fc
    .uint8Array({ minLength: hash === "sha1" ? 20 : 32, maxLength: hash === "sha1" ? 20 : 32 })
    .map((bytes) => Buffer.from(bytes).toString("hex"));
const mode = fc.constantFrom("100644", "100755", "120000", "40000", "160000");
/** Names that sort differently as files and as directories, and names that are no UTF-8. */
const name = fc.constantFrom("a", "a.b", "a-", "a0", "aa", "b", "A", "ü", "\udcff", "z z", "100644 a", "é");

function trees(hash: "sha1" | "sha256") {
  const entry: fc.Arbitrary<TreeEntry> = fc.record({ mode, id: id(hash) });
  return fc.record({
    tree: fc.dictionary(name, entry, { noNullPrototype: true }),
    changes: fc.dictionary(name, fc.option(entry), { noNullPrototype: true }),
  });
}

function applied(tree: Tree, changes: Map<string, TreeEntry | null>): Tree {
  const changed = new Map(tree);
  for (const [path, entry] of changes) {
    if (entry) changed.set(path, entry);
    else changed.delete(path);
  }
  return changed;
}

test.each(["sha1", "sha256"] as const)("as bytes, trees change and differ as their entries do: %s", (hash) => {
  fc.assert(
    fc.property(trees(hash), (made) => {
      const tree: Tree = new Map(Object.entries(made.tree));
      const changes = new Map(Object.entries(made.changes));
      const wide = new WideTree(serializeTree(tree), hash);
      const expected = applied(tree, changes);
      const changed = wide.with(changes);
      expect(changed.equals(serializeTree(expected))).toBe(true);
      for (const [path, entry] of tree) expect(wide.get(path)).toEqual(entry);
      expect(wide.get("nowhere")).toBeNull();
      const found = wide.differencesTo(new WideTree(changed, hash));
      const different = [...new Set([...tree.keys(), ...expected.keys()])].filter(
        (path) => JSON.stringify(tree.get(path)) !== JSON.stringify(expected.get(path)),
      );
      const before = parseTree(wide.data, hash);
      expect(found.map(({ name: path }) => path).sort()).toEqual(different.sort());
      for (const { name: path, before: was, after: is } of found) {
        expect(was).toEqual(before.get(path) ?? null);
        expect(is).toEqual(expected.get(path) ?? null);
      }
    }),
    { numRuns: 300 },
  );
});

test("the differences of two large trees are found, wherever they are", () => {
  const entry = (digit: number): TreeEntry => ({ mode: "100644", id: String(digit).repeat(40) });
  const names = Array.from({ length: 3_000 }, (_, i) => `module-${String(i).padStart(4, "0")}.ts`);
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(2_999), { maxLength: 8 }), fc.boolean(), (changed, isRemoved) => {
      const tree: Tree = new Map(names.map((path) => [path, entry(1)]));
      const picked = changed.sort((a, b) => a - b).map((i) => names[i] ?? "");
      const after = isRemoved ? null : entry(2);
      const other = applied(tree, new Map(picked.map((path) => [path, after])));
      const [one, two] = [tree, other].map((each) => new WideTree(serializeTree(each), "sha1"));
      if (!one || !two) throw new Error("unreachable");
      expect(one.differencesTo(two)).toEqual(picked.map((path) => ({ name: path, before: entry(1), after })));
      expect(two.differencesTo(one)).toEqual(picked.map((path) => ({ name: path, before: after, after: entry(1) })));
    }),
    { numRuns: 50 },
  );
});

test("a damaged tree is refused", () => {
  expect(() => new WideTree(Buffer.from("100644 a\0short"), "sha1").get("a")).toThrow("damaged");
  expect(() => new WideTree(Buffer.from("100644 a"), "sha1").get("a")).toThrow("damaged");
});
