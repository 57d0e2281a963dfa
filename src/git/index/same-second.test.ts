import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captured, usualCapture } from "../../../test/support/captured.ts";
import { type TemporaryRepository, temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { startCapture } from "../snapshot/snapshot.ts";
import type { Workspace } from "../workspace.ts";
import { privateIndex, warmPrivateIndex } from "./private-index.ts";
import { findRewritten } from "./same-second.ts";

ownHome();

const PAST = new Date("2024-05-06T07:08:09.25Z");
const LATER = new Date("2024-05-06T07:08:19.25Z");

/** Stages a file with an old modification time. */
function stage(repository: TemporaryRepository, path: string, content: string): void {
  repository.write(path, content);
  utimesSync(repository.at(path), PAST, PAST);
  repository.git("add", "--", path);
}

/**
 * Writes the file again so that git takes it for unchanged: with size and modification time kept, and in the second
 * that the index has, which is brought about by a change of the index.
 */
function rewriteUnseen(repository: TemporaryRepository, path: string, content: string): void {
  expect(statSync(repository.at(path)).size).toBe(content.length);
  rewriteInSecond(repository, path, content);
  expect(repository.git("diff-files", "--name-only")).toBe("");
}

function rewriteInSecond(repository: TemporaryRepository, path: string, content: string): void {
  const file = repository.at(path);
  writeFileSync(file, content);
  utimesSync(file, PAST, PAST);
  const seconds = Math.floor(statSync(file).ctimeMs / 1000);
  const bytes = readFileSync(repository.at(".git/index"));
  bytes.writeUInt32BE(seconds, bytes.indexOf(`${path}\0`) - 62);
  createHash("sha1")
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20);
  writeFileSync(repository.at(".git/index"), bytes);
}

async function contentOf(repository: TemporaryRepository, workspace: Workspace, path: string): Promise<string> {
  const { work } = await captured(workspace, { remembered: repository });
  return repository.git("show", `${work}:${path}`);
}

test("a file that was written again within the second of its `git add` is in the next snapshots", async () => {
  using repository = temporaryRepository();
  stage(repository, "a.txt", "one");
  stage(repository, "other.txt", "other");
  const workspace = await enabledWorkspace(repository.path);
  rewriteUnseen(repository, "a.txt", "two");
  for (let round = 0; round < 3; round++) expect(await contentOf(repository, workspace, "a.txt")).toBe("two");
  await warmPrivateIndex(workspace);
  expect(await contentOf(repository, workspace, "a.txt")).toBe("two");
  stage(repository, "later.txt", "later");
  expect(await contentOf(repository, workspace, "a.txt")).toBe("two");
  expect(await contentOf(repository, workspace, "other.txt")).toBe("other");
});

test("once the file is as the index has it, so are the snapshots", async () => {
  using repository = temporaryRepository();
  stage(repository, "a.txt", "one");
  const workspace = await enabledWorkspace(repository.path);
  rewriteUnseen(repository, "a.txt", "two");
  expect(await contentOf(repository, workspace, "a.txt")).toBe("two");
  writeFileSync(repository.at("a.txt"), "one");
  utimesSync(repository.at("a.txt"), LATER, LATER);
  repository.git("update-index", "--refresh");
  expect(await contentOf(repository, workspace, "a.txt")).toBe("one");
  expect(findRewritten(workspace, privateIndex(workspace).path, false)).toEqual([]);
});

test("what a hook has no time to compare, the worker compares", async () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 600; i++) repository.write(`many/${i}`, "");
  repository.git("add", "--all");
  stage(repository, "a.txt", "one");
  const workspace = await enabledWorkspace(repository.path);
  rewriteUnseen(repository, "a.txt", "two");
  const { path } = privateIndex(workspace);
  const names = (isHurried: boolean) => findRewritten(workspace, path, isHurried).map((file) => file.path);
  expect(names(true)).toEqual([]);
  expect(names(false)).toEqual(["a.txt"]);
  expect(names(true)).toEqual(["a.txt"]);
});

test("a hook finds it, too", async () => {
  using repository = temporaryRepository();
  stage(repository, "a.txt", "one");
  const workspace = await enabledWorkspace(repository.path);
  rewriteUnseen(repository, "a.txt", "two");
  const capture = startCapture(workspace, { ...usualCapture, patienceMs: 5_000 });
  try {
    const { work } = await capture.finish();
    capture.writer.flush();
    expect(repository.git("show", `${work}:a.txt`)).toBe("two");
  } finally {
    capture.close();
  }
});

test("a damaged memory of what was compared is as good as none", async () => {
  using repository = temporaryRepository();
  stage(repository, "a.txt", "one");
  const workspace = await enabledWorkspace(repository.path);
  rewriteUnseen(repository, "a.txt", "two");
  for (const damaged of [
    "",
    "{",
    "null",
    "[1]",
    "\0".repeat(100),
    '{"v":1,"index":"x","newest":1,"tookMs":1,"found":[7]}',
  ]) {
    writeFileSync(join(workspace.stateDir, "same-second.json"), damaged);
    expect(await contentOf(repository, workspace, "a.txt")).toBe("two");
  }
});

test("a file that git sees, too, is named once as not captured", async () => {
  using repository = temporaryRepository();
  stage(repository, "a.txt", "one");
  const workspace = await enabledWorkspace(repository.path);
  rewriteInSecond(repository, "a.txt", "a longer one");
  const { notCaptured } = await captured(workspace, { maxTrackedSize: 2 });
  expect(notCaptured).toEqual([{ path: "a.txt", why: "too-large" }]);
});
