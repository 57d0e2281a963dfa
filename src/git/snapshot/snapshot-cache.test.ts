import { afterEach, expect, setSystemTime, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captured, usualCapture } from "../../../test/support/captured.ts";
import { type TemporaryRepository, temporaryRepository } from "../../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../../test/support/own-process.ts";
import { put, treesByGit } from "../../../test/support/work-tree.ts";
import { privateIndex, warmPrivateIndex } from "../index/private-index.ts";
import { loadSnapshotCache, markOf, statOf } from "../index/stat-cache.ts";
import type { Workspace } from "../workspace.ts";
import { startCapture } from "./snapshot.ts";

ownHome();
afterEach(() => {
  setSystemTime();
});

/** A repository with changes that a snapshot may remember: for the process, minutes have passed since. */
async function settled(): Promise<{ repository: TemporaryRepository; workspace: Workspace } & Disposable> {
  const repository = temporaryRepository();
  repository.write("tracked", "1");
  repository.commit("second");
  repository.write("tracked", "changed");
  repository.write("new/file", "one\r\n");
  const workspace = await enabledWorkspace(repository.path);
  later();
  return { repository, workspace, [Symbol.dispose]: () => repository.remove() };
}

function later(): void {
  setSystemTime(new Date(Date.now() + 60_000));
}

function objectFiles(repository: TemporaryRepository): number {
  return readdirSync(repository.at(".git", "objects"), { recursive: true }).length;
}

test("with nothing changed, nothing is read and nothing is written", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  const first = await captured(workspace, { remembered: repository });
  const objects = objectFiles(repository);
  const running = startCapture(workspace, usualCapture);
  try {
    expect(await running.finish()).toEqual(first);
    // What is read is on its way into the store, known or not.
    expect(running.writer.pendingCount).toBe(0);
  } finally {
    running.close();
  }
  expect(objectFiles(repository)).toBe(objects);
});

test("a file written too recently to be trusted is read again and stored once", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  for (let i = 0; i < 20; i++) repository.write(`new/${i}`, `${i}\n`);
  const first = await captured(workspace, { remembered: repository });
  later();
  const running = startCapture(workspace, usualCapture);
  try {
    expect(await running.finish()).toEqual(first);
    expect(running.writer.pendingCount).toBe(0);
    running.remember(loadSnapshotCache(workspace)?.heldBy ?? "", first);
  } finally {
    running.close();
  }
  // From now on by its times alone.
  const marks = Object.values(loadSnapshotCache(workspace)?.files ?? {}).map(({ mark }) => mark);
  expect(marks).toHaveLength(20);
  expect(marks).not.toContain("");
});

test("what no ref holds is not remembered", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("new.txt", "found\n");
  const first = await captured(workspace, { remembered: repository });
  repository.write("new.txt", "found later\n");
  const running = startCapture(workspace, usualCapture);
  try {
    await running.finish();
    // As a restore does that has read the files once more: the ref holds another tree than was found.
    running.remember(loadSnapshotCache(workspace)?.heldBy ?? "", first);
  } finally {
    running.close();
  }
  expect(loadSnapshotCache(workspace)).toBeUndefined();
});

test("an edit of the same size in the same second is noticed", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  for (let i = 0; i < 8; i++) {
    repository.write("untracked", `value ${i}`);
    repository.write("README.md", `# Exampl${i}\n`);
    const { work } = await captured(workspace, { remembered: repository });
    expect(work).toBe(treesByGit(repository).work);
  }
});

test("a file that was written just now, or in the future, has no mark to be known by", () => {
  using repository = temporaryRepository();
  const stat = statOf(repository.at("README.md"));
  if (!stat) throw new Error("There is no such file.");
  const written = Number(stat.ctimeMs);
  expect(markOf(stat, written)).toBeUndefined();
  expect(markOf(stat, written + 1_999)).toBeUndefined();
  expect(markOf(stat, written - 60_000)).toBeUndefined();
  expect(markOf(stat, written + 2_001)).toMatch(/^\d/);
});

test("an edit that keeps size and time is noticed by the inode's own time", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  await captured(workspace, { remembered: repository });
  const { atime, mtime } = statSync(repository.at("new/file"));
  repository.write("new/file", "two\r\n");
  utimesSync(repository.at("new/file"), atime, mtime);
  later();
  expect((await captured(workspace)).work).toBe(treesByGit(repository).work);
});

test("a file that grows beyond the limit is named, one that shrinks is captured", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  const options = { maxFileSize: 10, remembered: repository };
  expect((await captured(workspace, options)).notCaptured).toEqual([]);
  repository.write("new/file", "much more than ten bytes");
  later();
  const grown = await captured(workspace, options);
  expect(grown.notCaptured).toEqual([{ path: "new/file", why: "too-large" }]);
  expect(repository.git("ls-tree", "-r", "--name-only", grown.work)).not.toContain("new/file");
  repository.write("new/file", "less");
  later();
  expect(await captured(workspace, options)).toMatchObject({ notCaptured: [], work: treesByGit(repository).work });
});

test("a mode that changes alone is noticed, and a file by another of the same size", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  await captured(workspace, { remembered: repository });
  chmodSync(repository.at("new/file"), 0o755);
  later();
  expect((await captured(workspace, { remembered: repository })).work).toBe(treesByGit(repository).work);
  const { atime, mtime } = statSync(repository.at("new/file"));
  repository.write("other", "two\r\n");
  utimesSync(repository.at("other"), atime, mtime);
  renameSync(repository.at("other"), repository.at("new/file"));
  later();
  expect((await captured(workspace)).work).toBe(treesByGit(repository).work);
});

test("other attributes, other settings and another index change what files become, although they did not change", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  const expectLikeGit = async () => {
    later();
    expect((await captured(workspace, { remembered: repository })).work).toBe(treesByGit(repository).work);
  };
  await expectLikeGit();
  repository.write(".gitattributes", "* text=auto\n");
  await expectLikeGit();
  repository.write(".gitattributes", "*  -text\n\n\n\n");
  await expectLikeGit();
  repository.git("config", "filter.shout.clean", "tr a-z A-Z");
  repository.write(".gitattributes", "file filter=shout\n");
  await expectLikeGit();
  repository.git("config", "filter.shout.clean", "rev");
  await expectLikeGit();
  repository.write(".gitattributes", "# nothing\n");
  await expectLikeGit();
  repository.git("config", "core.autocrlf", "input");
  await expectLikeGit();
  repository.write(".git/info/attributes", "file -text\n");
  await expectLikeGit();
});

test("a file with CRLF is as its staged form decides", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("file", "one\r\n");
  repository.commit("with CRLF");
  repository.git("config", "core.autocrlf", "input");
  repository.write("file", "one\r\ntwo\r\n");
  later();
  expect((await captured(workspace, { remembered: repository })).work).toBe(treesByGit(repository).work);
  const unix = repository.git("hash-object", "-w", "--no-filters", repository.write(".git/unix", "one\n"));
  repository.git("update-index", "--cacheinfo", `100644,${unix},file`);
  later();
  expect((await captured(workspace)).work).toBe(treesByGit(repository).work);
});

test("a cache is not trusted if its objects may be gone", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  const first = await captured(workspace, { remembered: repository });
  repository.git("update-ref", "-d", "refs/backtrail/work/main");
  repository.git("gc", "--quiet", "--prune=now");
  expect(() => repository.git("cat-file", "-e", first.work)).toThrow();
  const again = await captured(workspace);
  expect(again.work).toBe(first.work);
  expect(repository.git("ls-tree", "-r", "--name-only", again.work)).toContain("new/file");
  repository.git("fsck", "--strict", "--no-dangling", again.work);
});

test("a snapshot that no ref holds is not remembered", async () => {
  using place = await settled();
  await captured(place.workspace);
  expect(loadSnapshotCache(place.workspace)).toBeUndefined();
});

test("a damaged or outdated cache is ignored", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  const { work } = await captured(workspace, { remembered: repository });
  setSystemTime(new Date(Date.now() + 6 * 24 * 60 * 60 * 1000));
  expect(loadSnapshotCache(workspace)).toBeUndefined();
  put(workspace.stateDir, "snapshot.json", '{"v":2,"files":');
  put(workspace.stateDir, "git-facts.json", "[]");
  expect((await captured(workspace)).work).toBe(work);
});

test("a cache in which one bit tipped over is not built on", async () => {
  using place = await settled();
  const { repository, workspace } = place;
  await captured(workspace, { remembered: repository });
  const file = join(workspace.stateDir, "snapshot.json");
  const bytes = readFileSync(file);
  expect(loadSnapshotCache(workspace)).toBeDefined();
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(loadSnapshotCache(workspace)).toBeUndefined();
});

test("the private index follows the user's, and the previous one stays for processes that were just given it", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const names = () => readdirSync(workspace.stateDir).filter((name) => name.startsWith("index."));
  const paths = [];
  for (let i = 0; i < 4; i++) {
    repository.write(`f${i}`, "x");
    repository.git("add", "--all");
    const index = privateIndex(workspace);
    expect(index.fresh).toBe(true);
    expect(privateIndex(workspace)).toMatchObject({ path: index.path, fresh: false });
    paths.push(index.path);
  }
  expect(
    names()
      .map((name) => join(workspace.stateDir, name))
      .sort(),
  ).toEqual(paths.slice(2).sort());
});

test("a warmed index has an untracked cache, and serves until the user's index changes", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  const before = privateIndex(workspace);
  await warmPrivateIndex(workspace);
  const warm = privateIndex(workspace);
  expect(warm.path).not.toBe(before.path);
  expect(await Bun.file(warm.path).text()).toContain("UNTR");
  repository.write("later", "x");
  expect((await captured(workspace)).work).toBe(treesByGit(repository).work);
  repository.git("add", "later");
  expect(privateIndex(workspace).fresh).toBe(true);
});

test("a file that appears while the index is warmed is seen, though its directory keeps its time", async () => {
  using repository = temporaryRepository();
  for (let i = 0; i < 3; i++) repository.write(`dir${i}/old`, "x");
  const workspace = await enabledWorkspace(repository.path);
  privateIndex(workspace);
  await warmPrivateIndex(workspace);
  // The worst case: git looked, the file came in the same tick, and the index was written a second later.
  const { path } = privateIndex(workspace);
  const { mtime: written } = statSync(path);
  for (let i = 0; i < 3; i++) {
    const { atime, mtime } = statSync(repository.at(`dir${i}`));
    repository.write(`dir${i}/new`, "x");
    utimesSync(repository.at(`dir${i}`), atime, mtime);
  }
  expect(written.getTime() % 1000).toBe(0);
  expect((await captured(workspace)).work).toBe(treesByGit(repository).work);
});

test("an untracked cache of the user's own is not relied on", async () => {
  using repository = temporaryRepository();
  repository.write("dir/old", "x");
  repository.git("config", "core.untrackedCache", "true");
  repository.git("config", "core.trustctime", "false");
  repository.git("config", "status.showUntrackedFiles", "all");
  utimesSync(repository.at("dir"), new Date(1_000_000), new Date(1_000_000));
  repository.git("status", "--untracked-files=all");
  repository.git("status", "--untracked-files=all");
  repository.write("dir/new", "x");
  utimesSync(repository.at("dir"), new Date(1_000_000), new Date(1_000_000));
  expect(repository.git("status", "--porcelain", "--untracked-files=all")).not.toContain("dir/new");
  const workspace = await enabledWorkspace(repository.path);
  const { work } = await captured(workspace);
  expect(repository.git("ls-tree", "-r", "--name-only", work)).toContain("dir/new");
});
