import { expect, test } from "bun:test";
import type { IgnoredEntry, IgnoredList } from "../../git/ignored/list.ts";
import { ignoredChanges } from "./ignored-changes.ts";

const STEP = 1_000_000;

function list(entries: Record<string, IgnoredEntry | null>, cut = false): IgnoredList {
  return { cut, entries: new Map(Object.entries(entries)) };
}

function file(modified: number, size = 1, changed = modified): IgnoredEntry {
  return { modified, size, changed };
}

function changes(before: IgnoredList, after: IgnoredList, there: string[] = []): string[] {
  return ignoredChanges({ before, after, from: STEP, exists: (path) => there.includes(path) }).map(
    ({ path, change, to }) => [change, path, ...(to === undefined ? [] : [to])].join(" "),
  );
}

test("removed, changed and created files are distinguished", () => {
  const before = list({ ".env": file(1), "a.log": file(1), "b.log": file(1, 10), same: file(1) });
  const after = list({ ".env": null, "a.log": file(2), "b.log": file(1, 11), same: file(1), new: file(STEP + 5) });
  expect(changes(before, after)).toEqual(["removed .env", "changed a.log", "changed b.log", "created new"]);
});

test("a file that is only in the later list is new only if its time is later", () => {
  expect(changes(list({}), list({ old: file(1), new: file(STEP) }))).toEqual(["created new"]);
  expect(changes(list({}, true), list({ new: file(STEP) }))).toEqual([]);
});

test("a file that the later list leaves out is removed only if it is not there", () => {
  const before = list({ "now-tracked": file(1), gone: file(1) });
  expect(changes(before, list({}), ["now-tracked"])).toEqual(["removed gone"]);
  expect(changes(before, list({}, true), ["now-tracked"])).toEqual([]);
});

test("a file with the same time and size under another name was moved", () => {
  const before = list({ ".env": file(7, 9), "x/": file(3) });
  const after = list({ ".env": null, ".env.old": file(7, 9, STEP + 1), "x/": null, "y/": file(3, 1, STEP + 1) });
  expect(changes(before, after)).toEqual(["moved .env .env.old", "moved x y"]);
});

test("a directory is named alone when it goes, and its files when they say more", () => {
  const before = list({ "dist/": file(1), "dist/a": file(1), "out/": file(1), "out/b": file(1) });
  const after = list({ "dist/": null, "dist/a": null, "out/": file(2), "out/b": null });
  expect(changes(before, after)).toEqual(["removed dist", "removed out/b"]);
});
