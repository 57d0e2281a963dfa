import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../test/support/index.ts";
import { contentId, idOfBytes } from "./content.ts";

test("content has git's id, for any size and both hash formats", () => {
  using place = temporaryDirectory();
  for (const hash of ["sha1", "sha256"] as const) {
    const repository = join(place.path, hash);
    execFileSync("git", ["init", "--quiet", `--object-format=${hash}`, repository]);
    for (const size of [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 3_000_000]) {
      const file = join(repository, "file");
      writeFileSync(file, Buffer.alloc(size, `${size} `));
      const expected = execFileSync("git", ["hash-object", "file"], { cwd: repository, encoding: "utf8" }).trim();
      expect(contentId(file, hash)).toBe(expected);
    }
  }
});

test("a link is its target and never what it leads to", () => {
  using place = temporaryDirectory();
  const [file, link] = [join(place.path, "file"), join(place.path, "link")];
  writeFileSync(file, "content");
  symlinkSync("file", link);
  expect(contentId(link, "sha1")).toBe(idOfBytes(Buffer.from("file"), "sha1", true));
  expect(contentId(link, "sha1")).not.toBe(idOfBytes(Buffer.from("file"), "sha1"));
});

test("paths without content have no id: missing files, directories, idle pipes", () => {
  using place = temporaryDirectory();
  mkdirSync(join(place.path, "directory"));
  execFileSync("mkfifo", [join(place.path, "pipe")]);
  for (const name of ["nothing", "directory", "pipe", "directory/nothing"])
    expect(contentId(join(place.path, name), "sha1")).toBeUndefined();
});

test("times and size say nothing about it", () => {
  using place = temporaryDirectory();
  const file = join(place.path, "file");
  writeFileSync(file, "one");
  const before = contentId(file, "sha1");
  writeFileSync(file, "two");
  expect(contentId(file, "sha1")).not.toBe(before);
  truncateSync(file, 0);
  expect(contentId(file, "sha1")).toBe("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
});
