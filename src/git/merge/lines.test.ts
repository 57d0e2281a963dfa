import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../test/support/index.ts";
import type { Workspace } from "../workspace.ts";
import { mergeLines } from "./lines.ts";

async function merge(base: string, ours: string, theirs: string): Promise<string | undefined> {
  using place = temporaryDirectory();
  const stateDir = join(place.path, "state");
  mkdirSync(stateDir);
  const texts = { base: Buffer.from(base), ours: Buffer.from(ours), theirs: Buffer.from(theirs) };
  return (await mergeLines({ stateDir } as Workspace, texts))?.toString("utf8");
}

test("changes to neighboring lines are kept apart", async () => {
  expect(await merge("1\n2\n3\n", "A\n2\nC\n", "1\nB\n3\n")).toBe("A\nB\nC\n");
  expect(await merge("1\n2\n", "1\n2\nC\n", "1\nB\n")).toBe("1\nB\nC\n");
});

test("the same change on both sides is one", async () => {
  expect(await merge("1\n2\n3\n", "A\nB\nC\n", "1\nB\n3\n")).toBe("A\nB\nC\n");
});

test("changes to the same line conflict, and so do insertions at the same place", async () => {
  expect(await merge("1\n2\n3\n", "1\nA\n3\n", "1\nB\n3\n")).toBeUndefined();
  expect(await merge("1\n2\n", "1\nA\n2\n", "1\nB\n2\n")).toBeUndefined();
  expect(await merge("1\n2\n3\n", "1\n3\n", "1\nB\n3\n")).toBeUndefined();
});

test("line ends and bytes stay as they are", async () => {
  expect(await merge("1\r\n2\r\n3", "A\r\n2\r\n3", "1\r\nß\r\n3")).toBe("A\r\nß\r\n3");
  expect(await merge("1\n2", "1\n2\n", "A\n2")).toBe("A\n2\n");
  expect(await merge("", "", "new\n")).toBe("new\n");
});

test("binary content is not merged", async () => {
  expect(await merge("1\0\n2\n", "1\0\n2\n", "1\0\nB\n")).toBeUndefined();
});
