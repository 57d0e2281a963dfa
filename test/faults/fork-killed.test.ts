/** What the next command says of a fork whose process was killed, and a git killed with it. Kills at every point are rows of `operations.ts`. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Attempts, type Fork } from "../journeys/forks.ts";
import { type TemporaryRepository, write } from "../support/index.ts";

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
  expect(repository.exists(".git/worktrees/again")).toBe(false);
  const records = repository.at(".git/backtrail/forks");
  expect(existsSync(records) ? readdirSync(records) : []).toEqual([]);
  expect((await repository.run(["doctor", "--check"])).code).toBe(0);
}

test("killed before it has a work tree: the next command clears it away", async () => {
  using attempts = await attempted();
  expect((await die(attempts, "fork:record", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
  const next = await attempts.repository.run(["save", "afterwards"]);
  expect(next.stderr).toContain("Removed the fork again");
  await nothingLeft(attempts);
  expect((await attempts.fork("1", "--branch", "again")).fork.name).toBe("again");
});

test("killed before it has files: changes staged or committed there meanwhile are kept", async () => {
  using attempts = await attempted();
  const { repository } = attempts;
  expect((await die(attempts, "worktree:marked", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
  const fork = `${repository.path}.forks/again`;
  repository.git("-C", fork, "checkout", "-q", "--detach");
  repository.git("-C", fork, "commit", "-q", "--allow-empty", "-m", "Meanwhile");
  const commit = repository.git("-C", fork, "rev-parse", "HEAD");
  writeFileSync(join(fork, "only-here.txt"), "only here\n");
  repository.git("-C", fork, "add", "only-here.txt");
  const staged = repository.git("-C", fork, "rev-parse", ":only-here.txt");
  rmSync(join(fork, "only-here.txt"));

  const next = await repository.run(["save", "afterwards"]);
  expect(next.stderr).toContain("Removed the fork again");
  expect(next.stderr).toMatch(/Its staged changes are kept: git ls-tree -r refs\/backtrail\/\S+/);
  expect(next.stderr).toMatch(/Commits that only it had are kept: git log refs\/backtrail\/\S+/);
  repository.git("gc", "-q", "--prune=now");
  expect(repository.git("cat-file", "-t", commit)).toBe("commit");
  expect(repository.git("cat-file", "-p", staged)).toBe("only here");
  expect(existsSync(fork)).toBe(false);
});

test("killed later: the next command finishes it; killed as it is dropped, too", async () => {
  using attempts = await attempted();
  const { repository } = attempts;
  expect((await die(attempts, "fork:files", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
  expect((await repository.run(["save", "afterwards"])).stderr).toContain("Finished creating the fork again");
  expect((await die(attempts, "fork:dropping", "fork", "drop", "again")).signal).toBe("SIGKILL");
  expect((await repository.run(["save", "afterwards"])).stderr).toContain("The fork again is still there");
  expect((await die(attempts, "fork:renamed", "fork", "drop", "again")).signal).toBe("SIGKILL");
  expect((await repository.run(["save", "afterwards"])).stderr).toContain("Finished dropping the fork again");
  await nothingLeft(attempts);
});

interface Listed {
  kind: string;
  takenBackBy: string | null;
}

async function dropOf(attempts: Attempts): Promise<Listed | undefined> {
  const { operations } = await attempts.repository.json<{ operations: Listed[] }>(["ops"]);
  return operations.find(({ kind }) => kind === "drop");
}

test.each(["fork:files", "fork:reversed", "fork:ready"])(
  "killed at %s as a dropped fork is made again: the drop is taken back once the fork is there",
  async (point) => {
    using attempts = await attempted();
    const { repository } = attempts;
    await attempts.fork("1", "--branch", "again");
    await repository.run(["fork", "drop", "again", "--yes"]);
    expect((await die(attempts, point, "ops", "undo", "--yes")).signal).toBe("SIGKILL");
    await repository.run(["save", "afterwards"]);
    expect((await forks(attempts)).map(({ name }) => name)).toEqual(["again"]);
    expect((await dropOf(attempts))?.takenBackBy).toEqual(expect.any(String));
  },
);

test.each(["fork:branch", "fork:record"])(
  "killed at %s as a branch is made again: trying again works",
  async (point) => {
    using attempts = await attempted();
    const { repository } = attempts;
    await repository.json(["fork", "1", "--branch", "again", "--branch-only"]);
    await repository.run(["fork", "drop", "again", "--yes"]);
    expect((await die(attempts, point, "ops", "undo", "--yes")).signal).toBe("SIGKILL");
    await repository.json(["ops", "undo", "--yes"]);
    expect((await forks(attempts)).map(({ name }) => name)).toEqual(["again"]);
    expect((await dropOf(attempts))?.takenBackBy).toEqual(expect.any(String));
  },
);

/** What git leaves that is killed as it makes the worktree, as seen. */
const HALVES: readonly [string, (record: string, repository: TemporaryRepository) => void][] = [
  ["all but its files", () => {}],
  [
    "some of its files, and the lock of its index",
    (record, repository) => {
      writeFileSync(join(`${repository.path}.forks/again`, "README.md"), repository.read("README.md"));
      writeFileSync(join(record, "index.lock"), "");
    },
  ],
  [
    "no name of its directory",
    (record) => {
      for (const name of readdirSync(record)) if (name !== "locked") rmSync(join(record, name), { recursive: true });
      writeFileSync(join(record, "gitdir"), "");
    },
  ],
  // Every git that looks at worktrees stumbles over this one.
  ["no word on where the repository is", (record) => writeFileSync(join(record, "commondir"), "")],
  [
    "the branch's lock",
    (_, repository) => {
      const lock = repository.at(".git/refs/heads/again.lock");
      writeFileSync(lock, "");
      utimesSync(lock, new Date(0), new Date(0));
    },
  ],
];

for (const [what, harm] of HALVES) {
  test(`killed while git makes the work tree, of which there is ${what}: half of one is never kept`, async () => {
    using attempts = await attempted();
    const { repository } = attempts;
    expect((await die(attempts, "worktree:added", "fork", "1", "--branch", "again")).signal).toBe("SIGKILL");
    harm(repository.at(".git/worktrees/again"), repository);
    const next = await repository.run(["save", "afterwards"]);
    expect(next.stderr).toContain("Removed the fork again");
    await nothingLeft(attempts);
    expect(readdirSync(repository.at(".git/refs/heads"))).toEqual(["main"]);
  }, 20_000);
}
