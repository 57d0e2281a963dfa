import { expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { temporaryDirectory } from "../../test/support/index.ts";
import { waitUntilWritten } from "./flush.ts";

const LONG = { pollMs: 1, longestMs: 30_000 };
const SHORT = { pollMs: 1, longestMs: 40 };

test("the wait ends as soon as the file has the line, even if the file is missing at first", async () => {
  using place = temporaryDirectory();
  const path = `${place.path}/a.jsonl`;
  const sizes: number[] = [];
  const done = waitUntilWritten(path, 2, LONG, (_, size) => sizes.push(size) > 1);
  writeFileSync(path, "1234");
  while (sizes.length === 0) await Bun.sleep(1);
  appendFileSync(path, "5");
  await done;
  expect(sizes).toEqual([4, 5]);
});

test("a file that does not grow is read once; a file that has not grown since the turn began is not read", async () => {
  using place = temporaryDirectory();
  const path = place.write("a.jsonl", "1234");
  let looks = 0;
  await waitUntilWritten(path, 0, SHORT, () => ++looks < 0);
  expect(looks).toBe(1);
  await waitUntilWritten(path, 4, SHORT, () => ++looks < 0);
  expect(looks).toBe(1);
});

test("nothing is waited for without end", async () => {
  using place = temporaryDirectory();
  await waitUntilWritten(`${place.path}/absent`, 0, SHORT, () => true);
  await waitUntilWritten(place.path, 0, SHORT, () => true);
});
