import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/directory.ts";
import { Directory } from "../../../test/support/files/directory.ts";
import { contentId } from "../apply/content.ts";
import { finishRemoval, isRemoval, newRemoval, type Removal, removalState, removeWhole, setAside } from "./removal.ts";

const ID = "klmnopqrstuv";

/** A directory with two files and a link, and a list that has all of them. */
function ours(place: TemporaryDirectory, whole: string[] = []): { directory: string; removal: Removal } {
  const directory = dirname(place.write("ours/a.txt", "a\n"));
  place.write("ours/deep/b.txt", "b\n");
  place.write("outside.txt", "outside\n");
  symlinkSync(place.at("outside.txt"), join(directory, "link"));
  const held = ["a.txt", "deep/b.txt", "link"].map((path) => [path, contentId(join(directory, path), "sha1") ?? ""]);
  const files = new Map(held as [string, string][]);
  return { directory, removal: newRemoval(directory, ID, "sha1", files, whole) };
}

const nothing = () => {};

test("held files are removed; the targets of links stay", () => {
  using place = temporaryDirectory();
  const { removal } = ours(place);
  setAside(removal, nothing);
  expect(place.exists("ours")).toBe(false);
  expect(finishRemoval(removal)).toBeNull();
  expect(readdirSync(place.path)).toEqual(["outside.txt"]);
  // Again, as after a kill.
  expect(finishRemoval(removal)).toBeNull();
});

test("a changed file and a new file stay at the old path", () => {
  using place = temporaryDirectory();
  const { directory, removal } = ours(place);
  setAside(removal, nothing);
  const aside = new Directory(removal.aside);
  aside.write("deep/b.txt", "B\n");
  aside.write("new.txt", "new\n");
  expect(finishRemoval(removal)).toEqual({ paths: expect.arrayContaining(["deep/b.txt", "new.txt"]), directory });
  expect(readdirSync(directory).sort()).toEqual(["deep", "new.txt"]);
  expect(place.read("ours/deep/b.txt")).toBe("B\n");
});

test("what stays does not take the place of a directory that was made there since", () => {
  using place = temporaryDirectory();
  const { directory, removal } = ours(place);
  setAside(removal, nothing);
  const aside = new Directory(removal.aside);
  aside.write("new.txt", "new\n");
  mkdirSync(directory);
  expect(finishRemoval(removal)).toEqual({ paths: ["new.txt"], directory: removal.aside });
  expect(readdirSync(directory)).toEqual([]);
  expect(aside.read("new.txt")).toBe("new\n");
});

test("a directory that was put in its place before the rename is put back", () => {
  using place = temporaryDirectory();
  const { directory, removal } = ours(place);
  renameSync(directory, place.at("moved"));
  place.write("ours/mine.txt", "mine\n");
  expect(() => setAside(removal, nothing)).toThrow("was replaced by another directory");
  expect(place.read("ours/mine.txt")).toBe("mine\n");
  expect(place.read("moved/a.txt")).toBe("a\n");
});

test("a name that is taken is refused", () => {
  using place = temporaryDirectory();
  const { removal } = ours(place);
  mkdirSync(removal.aside);
  expect(() => setAside(removal, nothing)).toThrow("already exists");
  expect(place.read("ours/a.txt")).toBe("a\n");
});

test("after a rename, a directory at the old path is a different one, even with the same inode", () => {
  using place = temporaryDirectory();
  const { directory, removal } = ours(place);
  expect(removalState(removal)).toBe("waiting");
  setAside(removal, nothing);
  expect(removalState(removal)).toBe("begun");
  // As if the file system had given a new directory the same inode.
  rmSync(join(removal.aside, "link"));
  renameSync(removal.aside, directory);
  expect(removalState(removal)).toBe("gone");
  expect(finishRemoval(removal)).toBeNull();
  expect(place.read("ours/a.txt")).toBe("a\n");
});

test("paths that may be removed as a whole are removed with their content", () => {
  using place = temporaryDirectory();
  const { directory, removal } = ours(place, ["build"]);
  place.write("ours/build/out/x.o", "x");
  place.write("ours/builder.txt", "kept\n");
  setAside(removal, nothing);
  expect(finishRemoval(removal)).toEqual({ paths: ["builder.txt"], directory });
  expect(readdirSync(directory)).toEqual(["builder.txt"]);
});

test("a list from a file must name the place that belongs to its id", () => {
  using place = temporaryDirectory();
  const { removal } = ours(place);
  expect(isRemoval(JSON.parse(JSON.stringify(removal)), ID)).toBe(true);
  expect(isRemoval({ ...removal, aside: place.path }, ID)).toBe(false);
  expect(isRemoval(removal, "zyxwvutsrqpo")).toBe(false);
  for (const odd of [null, undefined, 1, "x", [], {}, { ...removal, v: 2 }, { ...removal, files: null }])
    expect(isRemoval(odd, ID)).toBe(false);
});

test("removing a path of ours does not follow links", () => {
  using place = temporaryDirectory();
  place.write("outside/x.txt", "x\n");
  place.write("ours/deep/y.txt", "y\n");
  symlinkSync(place.at("outside"), place.at("ours/link"));
  removeWhole(place.at("ours"), "link");
  removeWhole(place.at("ours"), "deep");
  removeWhole(place.at("ours"), "missing");
  expect(readdirSync(place.at("ours"))).toEqual([]);
  expect(place.read("outside/x.txt")).toBe("x\n");
});
