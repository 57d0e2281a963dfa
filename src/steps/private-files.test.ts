import { expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { usualCapture } from "../../test/support/captured.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../../test/support/index.ts";
import { enabledWorkspace, ownHome } from "../../test/support/own-process.ts";
import { keyFor, save } from "../../test/support/saving.ts";
import { newStepId } from "../base/ids.ts";
import { ObjectReader } from "../git/objects/reader.ts";
import { privateGitDirectory, pruneMark } from "../git/private/store.ts";
import { prunePrivateObjects, tidyPrivateObjects } from "../git/private/upkeep.ts";
import { startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { stepsIn } from "./log.ts";
import { saveStep, snapshotOf } from "./save.ts";
import { dropSteps, sizeOfSteps } from "./upkeep/retention.ts";

ownHome();

function writePrivate(repository: TemporaryRepository, name: string, content: string | Uint8Array): void {
  chmodSync(repository.write(name, content), 0o600);
}

async function contentOf(workspace: Workspace, work: string, path: string): Promise<string | undefined> {
  const reader = new ObjectReader(workspace);
  try {
    return (await reader.read(`${work}:${path}`))?.data.toString();
  } finally {
    reader.close();
  }
}

test("without a private file there is no private store", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("a.txt", "a");
  const [step] = await save(workspace, [{ session: "one" }]);
  expect(step?.snapshot.shared).toBeUndefined();
  expect(existsSync(privateGitDirectory(workspace))).toBe(false);
});

test("a folder without git has one store for everything", async () => {
  using folder = temporaryFolder();
  const workspace = await enabledWorkspace(folder.path);
  writePrivate(folder, "a.txt", "a");
  const [step] = await save(workspace, [{ session: "one" }]);
  expect(step?.snapshot.shared).toBeUndefined();
  expect(await contentOf(workspace, step?.snapshot.work ?? "", "a.txt")).toBe("a");
  expect(existsSync(privateGitDirectory(workspace))).toBe(false);
});

test("few objects or many, in a repository of either hash: they are the user's alone, and git finds nothing wrong", async () => {
  for (const hash of ["sha1", "sha256"]) {
    using repository = temporaryRepository({ empty: true });
    repository.git("init", "--quiet", `--object-format=${hash}`, "sub");
    const root = repository.at("sub");
    const workspace = await enabledWorkspace(root);
    for (let i = 0; i < 20; i++) writePrivate(repository, `sub/d${i}/${i}.txt`, `private ${i}`);
    const [step] = await save(workspace, [{ session: "one" }]);
    writePrivate(repository, "sub/d0/0.txt", "changed");
    const [next] = await save(workspace, [{ session: "one" }]);
    expect(await contentOf(workspace, step?.snapshot.work ?? "", "d7/7.txt")).toBe("private 7");
    expect(await contentOf(workspace, next?.snapshot.work ?? "", "d0/0.txt")).toBe("changed");
    const own = privateGitDirectory(workspace);
    const fsck = Bun.spawnSync(["git", "--git-dir", own, "fsck", "--strict", "--no-dangling"]);
    expect([fsck.exitCode, fsck.stdout.toString()]).toEqual([0, ""]);
    const open: string[] = [];
    const look = (path: string) => {
      const stat = lstatSync(path);
      if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
      else if (path.includes("/objects/") && stat.mode & 0o077) open.push(path);
    };
    look(own);
    expect([open, lstatSync(own).mode & 0o777]).toEqual([[], 0o700]);
  }
});

test("objects pruned while a snapshot is taken are written again", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  writePrivate(repository, "private.txt", "mine");
  const [old] = await save(workspace, [{ session: "old" }]);
  if (!old) throw new Error("Nothing was saved.");
  const capture = startCapture(workspace, usualCapture);
  const snapshot = await capture.finish();
  capture.writer.flush();
  await dropSteps(workspace, [old]);
  await prunePrivateObjects(workspace);
  expect(await contentOf(workspace, snapshot.work, "private.txt")).toBeUndefined();
  const step: Step = { ...old, id: newStepId(), session: "one", snapshot: snapshotOf(snapshot) };
  await saveStep(workspace, capture, [{ key: keyFor("one"), step, segments: [], alongside: null }]);
  capture.close();
  expect(await contentOf(workspace, snapshot.work, "private.txt")).toBe("mine");
  expect(Bun.spawnSync(["git", "--git-dir", privateGitDirectory(workspace), "fsck", "--full"]).exitCode).toBe(0);
});

test("objects written during a prune stay", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  writePrivate(repository, "private.txt", "mine");
  await save(workspace, [{ session: "one" }]);
  writePrivate(repository, "private.txt", "new");
  const mark = pruneMark(workspace);
  const pruning = prunePrivateObjects(workspace);
  // Whoever began before that has to write its objects again.
  while (pruneMark(workspace) === mark) await Bun.sleep(1);
  const capture = startCapture(workspace, usualCapture);
  const snapshot = await capture.finish();
  capture.writer.flush();
  await pruning;
  capture.close();
  expect(await contentOf(workspace, snapshot.work, "private.txt")).toBe("new");
});

test("packing keeps what the repository has, too, and every kind of object that a ref leads to", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  repository.write("file.txt", "public first");
  await save(workspace, [{ session: "old" }]);
  chmodSync(repository.at("file.txt"), 0o600);
  const [step] = await save(workspace, [{ session: "one" }]);
  const own = privateGitDirectory(workspace);
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "--git-dir", own, ...args], { env: repository.environment() });
  const commit = git("commit-tree", "-m", "kept", step?.snapshot.work ?? "")
    .stdout.toString()
    .trim();
  const next = git("commit-tree", "-p", commit, "-m", "next", step?.snapshot.work ?? "")
    .stdout.toString()
    .trim();
  git("update-ref", "refs/backtrail/other", next);
  git("commit-tree", "-m", "dropped", step?.snapshot.work ?? "");
  await prunePrivateObjects(workspace);
  expect(git("log", "--format=%s", "refs/backtrail/other").stdout.toString()).toBe("next\nkept\n");
  await dropSteps(
    workspace,
    stepsIn(workspace)
      .list()
      .filter(({ session }) => session === "old"),
  );
  repository.git("gc", "--quiet", "--prune=now");
  expect(await contentOf(workspace, step?.snapshot.work ?? "", "file.txt")).toBe("public first");
  expect(git("fsck", "--full", "--strict").exitCode).toBe(0);
  expect(git("count-objects", "-v").stdout.toString()).toMatch(/count: 0\n(.*\n)*packs: 1\n/);
});

test("it counts as room that steps take, and goes with them", async () => {
  using repository = temporaryRepository();
  const workspace = await enabledWorkspace(repository.path);
  writePrivate(repository, "private.bin", crypto.getRandomValues(new Uint8Array(50_000)));
  const [step] = await save(workspace, [{ session: "one" }]);
  expect(await sizeOfSteps(workspace)).toBeGreaterThan(50_000);
  await dropSteps(workspace, step ? [step] : []);
  expect(await sizeOfSteps(workspace)).toBe(0);
  await tidyPrivateObjects(workspace);
  // Less than a day old: somebody may be about to hold it.
  expect(await contentOf(workspace, step?.snapshot.work ?? "", "private.bin")).toBeDefined();
  await prunePrivateObjects(workspace);
  expect(await contentOf(workspace, step?.snapshot.work ?? "", "private.bin")).toBeUndefined();
});
