/** No push, clone or bundle of the user's takes a conversation along that nobody asked to share. */
import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkpointsOf, settled } from "../journeys/commits.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { wordsBelow } from "../support/leftovers.ts";

const WORDS = ["SECRET-PROMPT", "SECRET-ANSWER"];
const BRANCH = "refs/heads/entire/checkpoints/v1";
const env = { BACKTRAIL_WORKER: "off" };

/** A turn, its commit and its checkpoint, and an empty remote. */
async function committed(): Promise<{ repository: TemporaryRepository; remote: string; id: string } & Disposable> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await work(repository, "new.txt");
  const remote = join(repository.home, "remote.git");
  repository.git("init", "--quiet", "--bare", remote);
  repository.git("remote", "add", "origin", remote);
  const [id = ""] = checkpointsOf(repository, "HEAD");
  return { repository, remote, id, [Symbol.dispose]: () => repository.remove() };
}

async function work(repository: TemporaryRepository, file: string): Promise<void> {
  await new ScriptedClaude(repository).turn("the SECRET-PROMPT", [write(file, "x\n")], "the SECRET-ANSWER");
  repository.commit(file);
  await settled(repository);
}

/** What an earlier version left: the branch in the user's repository, and not a word elsewhere. */
async function asBefore(repository: TemporaryRepository): Promise<string> {
  await repository.run(["config", "set", "checkpoints.branch", "public"]);
  await settled(repository);
  await repository.run(["config", "unset", "checkpoints.branch"]);
  rmSync(repository.at(".git/backtrail/private.git"), { recursive: true });
  return repository.git("rev-parse", BRANCH);
}

function pushed(repository: TemporaryRepository, ...args: string[]): { code: number; stderr: string } {
  const result = Bun.spawnSync(["git", "push", "--quiet", ...args], {
    cwd: repository.path,
    env: repository.environment(),
  });
  return { code: result.exitCode, stderr: result.stderr.toString() };
}

for (const refs of ["--all", "--mirror", "refs/*:refs/*", "refs/heads/*:refs/heads/*"]) {
  test(`git push ${refs} takes no word along`, async () => {
    using place = await committed();
    const { repository, remote } = place;
    expect((await repository.run(["explain", place.id])).stdout).toContain("SECRET-PROMPT");
    expect(pushed(repository, ...(refs.startsWith("--") ? [refs, "origin"] : ["origin", refs])).code).toBe(0);
    repository.git("--git-dir", remote, "rev-parse", "refs/heads/main");
    expect(wordsBelow(remote, WORDS)).toEqual([]);
    expect(repository.git("log", "--all", "--format=%s")).not.toContain("Checkpoint:");
  });
}

test("a clone, a mirror and a bundle have no word of it", async () => {
  using place = await committed();
  const { repository } = place;
  const copies = join(repository.home, "copies");
  repository.git("clone", "--quiet", repository.path, join(copies, "clone"));
  repository.git("clone", "--quiet", "--mirror", repository.path, join(copies, "mirror.git"));
  repository.git("bundle", "create", "--quiet", join(copies, "all.bundle"), "--all");
  repository.git("clone", "--quiet", "--mirror", join(copies, "all.bundle"), join(copies, "unbundled.git"));
  expect(wordsBelow(copies, WORDS)).toEqual([]);
});

test("a branch of an earlier version is moved, with its history, and git's own checks hold in both repositories", async () => {
  using place = await committed();
  const { repository, remote, id } = place;
  const tip = await asBefore(repository);
  await work(repository, "second.txt");
  expect(repository.git("for-each-ref", "refs/heads/entire", "refs/backtrail/sync")).toBe("");
  expect(repository.checkpoints("rev-list", BRANCH).split("\n")).toContain(tip);
  pushed(repository, "--mirror", "origin");
  expect(wordsBelow(remote, WORDS)).toEqual([]);
  // The private repository needs nothing that the user's git may prune.
  repository.git("gc", "--quiet", "--prune=now");
  repository.git("fsck", "--strict", "--no-dangling");
  repository.checkpoints("fsck", "--strict", "--no-dangling");
  for (const checkpoint of [id, ...checkpointsOf(repository, "HEAD")])
    expect((await repository.run(["explain", checkpoint, "--conversation"], { env })).stdout).toContain(
      "SECRET-ANSWER",
    );
});

for (const point of ["checkpoints:copied", "checkpoints:moved"]) {
  test(`a move that is killed (${point}) is finished by the next worker`, async () => {
    using place = await committed();
    const { repository, id } = place;
    await asBefore(repository);
    await repository.run(["worker", repository.path], { env: { BACKTRAIL_FAULT: point } });
    expect((await repository.run(["explain", id], { env })).stdout).toContain("SECRET-PROMPT");
    await settled(repository);
    expect(repository.git("for-each-ref", "refs/heads/entire")).toBe("");
    expect((await repository.run(["explain", id], { env })).stdout).toContain("SECRET-PROMPT");
    repository.checkpoints("fsck", "--strict", "--no-dangling");
  });
}

test("a branch that has an upstream, or that another tool writes to, stays where it is", async () => {
  using place = await committed();
  const { repository } = place;
  const tip = await asBefore(repository);
  repository.git("config", "branch.entire/checkpoints/v1.remote", "origin");
  await work(repository, "second.txt");
  expect(repository.git("rev-parse", BRANCH)).toBe(tip);
  repository.git("config", "--unset", "branch.entire/checkpoints/v1.remote");
  repository.write(".entire/settings.json", '{ "enabled": true }\n');
  repository.write(".codex/hooks.json", '{ "hooks": { "Stop": [{ "command": "entire hooks codex stop" }] } }\n');
  await settled(repository);
  expect(repository.git("rev-parse", BRANCH)).toBe(tip);
  // Both places are read, and what is new stays private.
  for (const checkpoint of [place.id, ...checkpointsOf(repository, "HEAD")])
    expect((await repository.run(["explain", checkpoint], { env })).stdout).toContain("SECRET-PROMPT");
  expect(repository.git("ls-tree", "-r", "--name-only", BRANCH)).toContain("0/prompt.txt");
  expect((await repository.run(["status"], { env })).stdout).toContain("behind commits: Entire's hook pushes it");
  expect((await repository.run(["doctor"], { env })).stdout).toContain("stays in your repository");
  const rewound = await repository.run(["rewind", "entire/checkpoints/v1", "--yes"], { env });
  expect(rewound).toMatchObject({ code: 2, stderr: expect.stringContaining("holds checkpoints") });
});

test("with sharing turned on, the branch is in the repository again, with all of it", async () => {
  using place = await committed();
  const { repository, remote, id } = place;
  await repository.run(["config", "set", "push.enabled", "true"]);
  await settled(repository);
  expect(repository.git("log", "--format=%s", BRANCH)).toBe(`Checkpoint: ${id}`);
  expect(repository.checkpoints("rev-parse", BRANCH)).toBe(repository.git("rev-parse", BRANCH));
  expect(pushed(repository, "--all", "origin")).toEqual({ code: 0, stderr: "" });
  repository.git("--git-dir", remote, "rev-parse", BRANCH);
  repository.git("gc", "--quiet", "--prune=now");
  repository.git("fsck", "--strict", "--no-dangling");
});

test("sync push and fetch work from the private repository, and leave nothing behind in the user's", async () => {
  using place = await committed();
  const { repository, remote, id } = place;
  await repository.json(["sync", "push", "origin"], { env });
  repository.git("--git-dir", remote, "rev-parse", BRANCH);
  expect(repository.git("for-each-ref", "refs/heads/entire", "refs/remotes", "refs/backtrail/sync")).toBe("");
  repository.git("fsck", "--strict", "--no-dangling");
  // A colleague's git may have fetched it as well: the private repository still has all of its own.
  using other = temporaryRepository();
  await other.run(["enable", "--agent", "claude-code"]);
  other.git("remote", "add", "origin", remote);
  other.git("fetch", "--quiet", "origin");
  await other.json(["sync", "fetch", "origin"], { env });
  other.git("update-ref", "-d", "refs/remotes/origin/entire/checkpoints/v1");
  other.git("gc", "--quiet", "--prune=now");
  expect((await other.run(["explain", id], { env })).stdout).toContain("SECRET-PROMPT");
  other.checkpoints("fsck", "--strict", "--no-dangling");
});

test("a push that takes checkpoints along is noticed, and refused where its user wants that", async () => {
  using place = await committed();
  const { repository, remote } = place;
  await repository.run(["config", "set", "checkpoints.branch", "public"]);
  await settled(repository);
  const warned = pushed(repository, "--all", "origin");
  expect(warned.code).toBe(0);
  expect(warned.stderr).toContain("this push takes checkpoints along: the prompts and answers behind commits.");
  // As it says, without them.
  repository.git("--git-dir", remote, "update-ref", "-d", BRANCH);
  repository.git("commit", "--quiet", "--allow-empty", "--message", "more");
  expect(pushed(repository, "origin", "refs/heads/*", "^refs/heads/entire/*")).toEqual({ code: 0, stderr: "" });
  expect(repository.git("--git-dir", remote, "for-each-ref", BRANCH)).toBe("");
  await repository.run(["config", "set", "push.unasked", "refuse"]);
  repository.git("commit", "--quiet", "--allow-empty", "--message", "still more");
  const refused = pushed(repository, "--all", "origin");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("nothing was pushed, because the setting push.unasked is refuse.");
  expect(repository.git("--git-dir", remote, "for-each-ref", BRANCH)).toBe("");
  // One branch alone, the checkpoints alone, and a deletion are meant.
  expect(pushed(repository, "origin", "main").code).toBe(0);
  expect(pushed(repository, "origin", BRANCH)).toEqual({ code: 0, stderr: "" });
  expect(pushed(repository, "origin", `:${BRANCH}`, "main").code).toBe(0);
  expect(existsSync(remote)).toBe(true);
});

test("checkpoints shared with one remote are pushed to no other by default", async () => {
  using place = await committed();
  const { repository } = place;
  const other = repository.at("../other.git");
  repository.git("init", "--quiet", "--bare", other);
  await repository.run(["config", "set", "push.enabled", "true"]);
  await repository.run(["config", "set", "push.unasked", "refuse"]);
  await settled(repository);
  expect(repository.git("for-each-ref", BRANCH)).not.toBe("");
  const refused = pushed(repository, "--all", other);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("this push takes checkpoints along");
  expect(repository.git("--git-dir", other, "for-each-ref")).toBe("");
  expect(pushed(repository, "--all", "origin")).toEqual({ code: 0, stderr: "" });
});
