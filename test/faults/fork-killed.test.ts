/** Forks whose process is killed: made, or gone, after the next command; never half of one. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Attempts, type Fork, said } from "../journeys/forks.ts";
import { write } from "../support/index.ts";

const MADE = ["fork:worktree", "fork:files", "fork:hooks", "fork:staged", "fork:chat"];
const RESTORED = [
  "restore:safety",
  "restore:staged",
  "restore:journal",
  "restore:file:0",
  "restore:files",
  "restore:index",
];
const DROPPED = ["fork:dropping", "fork:kept", "fork:renamed", "fork:removed", "fork:unbranched"];

async function attempted(): Promise<Attempts> {
  const attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n"), write("b.txt", "1\n")]);
  repository.git("add", "a.txt");
  await agent.turn("Second", [write("a.txt", "2\n")]);
  return attempts;
}

function die(attempts: Attempts, point: string, ...args: string[]) {
  return attempts.repository.run(args, { env: { BACKTRAIL_FAULT: point } });
}

async function forks(attempts: Attempts): Promise<Fork[]> {
  return (await attempts.repository.json<{ forks: Fork[] }>(["fork", "list"])).forks;
}

/** Nothing of it is anywhere, and another of that name can be made. */
async function nothingLeft(attempts: Attempts): Promise<void> {
  const { repository } = attempts;
  expect(await forks(attempts)).toEqual([]);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(repository.git("branch", "--list")).toBe("* main");
  expect(existsSync(`${repository.path}.forks`)).toBe(false);
  const records = repository.at(".git/backtrail/forks");
  expect(existsSync(records) ? readdirSync(records) : []).toEqual([]);
  expect((await repository.run(["doctor", "--check"])).code).toBe(0);
}

test("killed before it has a work tree: the next command clears it away", async () => {
  using attempts = await attempted();
  expect((await die(attempts, "fork:record", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
  const next = await attempts.repository.run(["save", "afterwards"]);
  expect(next.stderr).toContain("Cleared away the fork again");
  await nothingLeft(attempts);
  expect((await attempts.fork("1", "--branch", "again")).fork.name).toBe("again");
});

for (const point of [...MADE, ...RESTORED]) {
  test(`killed at ${point}: the next command finishes it`, async () => {
    using attempts = await attempted();
    const { repository } = attempts;
    const before = attempts.look();
    expect((await die(attempts, point, "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
    const next = await repository.run(["save", "afterwards"]);
    expect(next.stderr).toContain("Finished the fork again");
    const [fork] = await forks(attempts);
    expect(fork).toMatchObject({ name: "again", state: "ready" });
    const directory = fork?.directory ?? "";
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("1\n");
    expect(repository.git("-C", directory, "status", "--porcelain")).toBe("A  a.txt\n?? b.txt");
    expect(existsSync(join(directory, ".claude/settings.local.json"))).toBe(true);
    expect(said(fork?.chat?.file ?? "")).toEqual(["First", "Done."]);
    expect(attempts.look()).toEqual(before);
    expect((await repository.run(["fork", "drop", "again"])).code).toBe(0);
    await nothingLeft(attempts);
  });
}

test("killed when it was ready: it is", async () => {
  using attempts = await attempted();
  expect((await die(attempts, "fork:ready", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
  expect(await forks(attempts)).toMatchObject([{ name: "again", state: "ready" }]);
});

test("killed while git makes the work tree: half of one is never kept", async () => {
  using attempts = await attempted();
  const { repository } = attempts;
  // As a machine leaves it that lost its power: git's own lock, some files, no index.
  expect((await die(attempts, "fork:record", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
  const directory = `${repository.path}.forks/again`;
  repository.git("worktree", "add", "--quiet", "-b", "again", directory, "main");
  writeFileSync(repository.at(".git/worktrees/again/locked"), "initializing\n");
  const next = await repository.run(["save", "afterwards"]);
  expect(next.stderr).toContain("Cleared away the fork again");
  await nothingLeft(attempts);
});

for (const point of DROPPED) {
  test(`a drop killed at ${point} is finished, and its work is kept`, async () => {
    using attempts = await attempted();
    const { repository } = attempts;
    const { fork } = await attempts.fork("1", "--branch", "again");
    writeFileSync(join(fork.directory, "new.txt"), "work\n");
    repository.git("-C", fork.directory, "add", "--all");
    repository.git("-C", fork.directory, "commit", "--quiet", "--message", "work");
    expect((await die(attempts, point, "fork", "drop", "again")).signal).toBe("SIGKILL");
    const next = await repository.run(["save", "afterwards"]);
    expect(next.stderr).toContain("Dropped the fork again");
    await nothingLeft(attempts);
    expect((await repository.run(["rewind", "fork again", "--yes"])).code).toBe(0);
    expect(repository.read("new.txt")).toBe("work\n");
    const kept = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/dropped");
    expect(repository.git("show", `${kept}:new.txt`)).toBe("work");
  });
}

test("a drop killed before it began leaves the fork as it is", async () => {
  using attempts = await attempted();
  const { fork } = await attempts.fork("1", "--branch", "again");
  writeFileSync(join(fork.directory, "new.txt"), "work\n");
  expect((await die(attempts, "fork:saved", "fork", "drop", "again")).signal).toBe("SIGKILL");
  expect(await forks(attempts)).toMatchObject([{ name: "again", state: "ready" }]);
  expect(readFileSync(join(fork.directory, "new.txt"), "utf8")).toBe("work\n");
});

for (const point of [
  "save:journal",
  "restore:safety",
  "restore:staged",
  "restore:journal",
  "restore:file:0",
  "restore:recorded",
]) {
  test(`a take killed at ${point} is exactly before or exactly after`, async () => {
    using attempts = await attempted();
    const { repository } = attempts;
    const { fork } = await attempts.fork("1", "--branch", "again");
    writeFileSync(join(fork.directory, "b.txt"), "theirs\n");
    writeFileSync(join(fork.directory, "new.txt"), "theirs\n");
    const before = attempts.look();
    expect((await die(attempts, point, "fork", "take", "again", "--yes")).signal).toBe("SIGKILL");
    const next = await repository.run(["save", "afterwards"]);
    expect(next.code).toBe(0);
    if (next.stderr.includes("Finished a take")) {
      expect(repository.read("b.txt") + repository.read("new.txt")).toBe("theirs\ntheirs\n");
      expect((await repository.run(["redo", "--yes"])).code).toBe(0);
    }
    expect(attempts.look()).toEqual(before);
    expect((await repository.run(["fork", "take", "again", "--yes"])).code).toBe(0);
    expect(repository.read("a.txt") + repository.read("b.txt")).toBe("2\ntheirs\n");
  });
}

test("killed at any moment, there is a fork or there is none", async () => {
  for (let sample = 0; sample < 6; sample++) {
    using attempts = await attempted();
    const { repository } = attempts;
    const killed = repository.run(["fork", "1", "--branch", "again"], { timeout: 15 + sample * 25 });
    await killed;
    await repository.run(["save", "afterwards"]);
    const found = await forks(attempts);
    if (found.length === 0) await nothingLeft(attempts);
    else {
      expect(found).toMatchObject([{ state: "ready" }]);
      expect(readFileSync(join(found[0]?.directory ?? "", "a.txt"), "utf8")).toBe("1\n");
    }
  }
});
