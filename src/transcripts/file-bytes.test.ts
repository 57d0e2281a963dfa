import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { temporaryDirectory } from "../../test/support/index.ts";
import { firstLine, readRange, withFile } from "./file-bytes.ts";

test("a range is read as far as the file goes", () => {
  using place = temporaryDirectory();
  const path = place.write("a.jsonl", "0123456789");
  const read = (start: number, end: number) => withFile(path, (fd) => readRange(fd, start, end).toString());
  expect(read(2, 5)).toBe("234");
  expect(read(8, 100)).toBe("89");
  expect(read(20, 30)).toBe("");
  expect(read(5, 2)).toBe("");
});

test("the first line is bounded, and needs no newline", () => {
  using place = temporaryDirectory();
  expect(firstLine(place.write("two.jsonl", "first\nsecond\n"), 100)).toBe("first");
  expect(firstLine(place.write("torn.jsonl", "first"), 100)).toBe("first");
  expect(firstLine(place.write("long.jsonl", "0123456789\n"), 4)).toBe("0123");
  expect(firstLine(place.write("empty.jsonl", ""), 100)).toBe("");
});

test("a path that is not a file is not waited for", () => {
  using place = temporaryDirectory();
  const pipe = `${place.path}/pipe`;
  spawnSync("mkfifo", [pipe]);
  for (const path of [pipe, place.path, `${place.path}/absent`, "/dev/zero"]) {
    expect(withFile(path, () => "read")).toBeUndefined();
    expect(firstLine(path, 100)).toBe("");
  }
});

test("a file that fails while it is read counts as absent", () => {
  using place = temporaryDirectory();
  const path = place.write("a.jsonl", "{}\n");
  const fail = () => {
    throw new Error("no");
  };
  expect(withFile(path, fail)).toBeUndefined();
});
