/** A directory at the place of a fork is only removed if it proves to be the fork: everything else stays, and is named. */
import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { Directory } from "../support/files/directory.ts";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryFolder,
  temporaryRepository,
} from "../support/index.ts";

/** Anything but the disk that tests use, if there is such a file system. */
const OTHER_DISK = existsSync("/dev/shm") ? "/dev/shm" : null;

async function forked(repository: TemporaryRepository, directory = `${repository.path}-fork`): Promise<string> {
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "start"]);
  const name = repository.exists(".git") ? ["--branch", "again"] : [];
  const made = await repository.run(["fork", "start", "--directory", directory, ...name]);
  expect(made).toMatchObject({ code: 0 });
  return directory;
}

function put(directory: string): void {
  new Directory(directory).write("precious.txt", "precious\n");
}

function isPrecious(directory: string): boolean {
  return new Directory(directory).read("precious.txt") === "precious\n";
}

const drop = (repository: TemporaryRepository, cwd = repository.path, name = "repository-fork") =>
  repository.run(["fork", "drop", name], { cwd });

const REPLACEMENTS: Record<string, (repository: TemporaryRepository, directory: string) => void> = {
  "a plain directory": (_, directory) => mkdirSync(directory),
  "another repository": (repository, directory) => repository.git("init", "--quiet", directory),
  "another worktree of this repository": (repository, directory) =>
    repository.git("worktree", "add", "--quiet", "-b", "other", directory),
  "a link to a directory": (repository, directory) => {
    mkdirSync(`${repository.path}-elsewhere`);
    symlinkSync(`${repository.path}-elsewhere`, directory);
  },
};

for (const [what, replace] of Object.entries(REPLACEMENTS)) {
  test(`a fork that was removed with git, and ${what} in its place`, async () => {
    using repository = temporaryRepository();
    const directory = await forked(repository);
    repository.git("worktree", "remove", "--force", directory);
    replace(repository, directory);
    put(directory);
    const dropped = await drop(repository);
    expect(dropped.code).toBe(0);
    expect(dropped.stderr).toContain("no longer belongs to the fork, and is left alone");
    expect(isPrecious(directory)).toBe(true);
    expect((await repository.json<{ forks: unknown[] }>(["fork", "list"])).forks).toEqual([]);
    expect(repository.git("branch", "--list", "again")).toBe("");
  });

  if (what === "another worktree of this repository") continue;
  test(`a fork that was moved away by hand, and ${what} in its place`, async () => {
    using repository = temporaryRepository();
    const directory = await forked(repository);
    const moved = `${repository.path}-moved`;
    renameSync(directory, moved);
    put(moved);
    replace(repository, directory);
    put(directory);
    const dropped = await drop(repository);
    expect(dropped.code).toBe(4);
    expect(dropped.stderr).toContain("git worktree repair");
    expect([isPrecious(directory), isPrecious(moved)]).toEqual([true, true]);
    rmSync(directory, { recursive: true });
    repository.git("worktree", "repair", moved);
    expect((await drop(repository)).code).toBe(0);
    expect(existsSync(moved)).toBe(false);
    expect((await repository.run(["rewind", "fork repository-fork", "--yes"])).code).toBe(0);
    expect(isPrecious(repository.path)).toBe(true);
  });
}

test("a fork that a link leads to is not followed", async () => {
  using repository = temporaryRepository();
  const directory = await forked(repository);
  const moved = `${repository.path}-moved`;
  renameSync(directory, moved);
  symlinkSync(moved, directory);
  put(moved);
  expect((await drop(repository)).code).toBe(4);
  expect(isPrecious(moved)).toBe(true);
});

test("a repository that was moved: its forks wait for `git worktree repair`", async () => {
  using repository = temporaryRepository();
  const directory = await forked(repository);
  put(directory);
  const renamed = `${repository.path}-renamed`;
  renameSync(repository.path, renamed);
  const listed = await repository.run(["fork", "list"], { cwd: renamed });
  expect(listed.stdout).toContain("git worktree repair");
  const compared = await repository.run(["fork", "diff", "repository-fork"], { cwd: renamed });
  expect(compared.code).toBe(3);
  expect(compared.stderr).toContain("git worktree repair");
  const dropped = await drop(repository, renamed);
  expect(dropped.code).toBe(4);
  expect(dropped.stderr).toContain(`git worktree repair ${directory}`);
  expect(isPrecious(directory)).toBe(true);
  renameSync(renamed, repository.path);
});

test("a repository that was moved with its forks: what can't be found is not forgotten", async () => {
  using repository = temporaryRepository();
  const directory = await forked(repository);
  put(directory);
  const [place, fork] = [`${repository.path}-moved`, `${repository.path}-moved-fork`];
  renameSync(repository.path, place);
  renameSync(directory, fork);
  const dropped = await drop(repository, place);
  expect(dropped.code).toBe(4);
  expect(dropped.stderr).toContain("git worktree repair");
  renameSync(place, repository.path);
  repository.git("worktree", "repair", fork);
  expect((await repository.run(["fork", "diff", "repository-fork"])).code).toBe(0);
});

test("a copy of the repository does not drop the fork of the first one", async () => {
  using repository = temporaryRepository();
  const directory = await forked(repository);
  put(directory);
  const copy = `${repository.path}-copy`;
  cpSync(repository.path, copy, { recursive: true });
  expect((await drop(repository, copy)).code).toBe(4);
  expect(isPrecious(directory)).toBe(true);
  expect((await drop(repository)).code).toBe(0);
});

test("a fork on a missing disk, locked for that reason, is kept in the list", async () => {
  using repository = temporaryRepository();
  const directory = await forked(repository);
  repository.git("worktree", "lock", directory);
  renameSync(directory, `${directory}-unmounted`);
  const dropped = await drop(repository);
  expect(dropped.code).toBe(4);
  expect(dropped.stderr).toContain("it is locked");
  renameSync(`${directory}-unmounted`, directory);
  expect((await repository.run(["fork", "diff", "repository-fork"])).code).toBe(0);
});

test.skipIf(OTHER_DISK === null)("a fork on another file system is saved and removed like any other", async () => {
  using repository = temporaryRepository();
  using elsewhere = temporaryDirectory(OTHER_DISK ?? "");
  const directory = await forked(repository, elsewhere.at("repository-fork"));
  put(directory);
  expect((await drop(repository)).code).toBe(0);
  expect(existsSync(directory)).toBe(false);
  expect((await repository.run(["rewind", "fork repository-fork", "--yes"])).code).toBe(0);
  expect(isPrecious(repository.path)).toBe(true);
});

test("of a folder without git: another directory of that name stays, and a copy is no fork", async () => {
  using folder = temporaryFolder();
  folder.write("a.txt", "1\n");
  const directory = await forked(folder);
  const copy = `${directory}-copy`;
  cpSync(directory, copy, { recursive: true });
  rmSync(directory, { recursive: true });
  renameSync(copy, directory);
  put(directory);
  const dropped = await drop(folder);
  expect(dropped.code).toBe(0);
  expect(dropped.stderr).toContain("left alone");
  expect(isPrecious(directory)).toBe(true);
});

test("of a folder without git: one that has become a repository is not removed", async () => {
  using folder = temporaryFolder();
  folder.write("a.txt", "1\n");
  const directory = await forked(folder);
  folder.git("init", "--quiet", directory);
  put(directory);
  expect((await drop(folder)).code).toBe(4);
  expect(isPrecious(directory)).toBe(true);
});

test("the steps of a folder that was at that place before are never taken over", async () => {
  using folder = temporaryFolder();
  folder.write("a.txt", "1\n");
  const earlier = join(dirname(folder.path), "earlier");
  mkdirSync(earlier);
  put(earlier);
  await folder.run(["enable", "--agent", "claude-code"], { cwd: earlier });
  await folder.run(["save", "mine"], { cwd: earlier });
  rmSync(earlier, { recursive: true });
  await folder.run(["enable", "--agent", "claude-code"]);
  await folder.run(["save", "start"]);
  const made = await folder.run(["fork", "start", "--directory", earlier]);
  expect(made.code).toBe(4);
  expect(made.stderr).toContain("already has steps");
  mkdirSync(earlier, { recursive: true });
  expect((await folder.run(["rewind", "mine", "--yes"], { cwd: earlier })).code).toBe(0);
  expect(isPrecious(earlier)).toBe(true);
});

test("a fork of an older version, which left no mark, is asked about and saved", async () => {
  using repository = temporaryRepository();
  const directory = await forked(repository);
  put(directory);
  const records = new Directory(repository.at(".git/backtrail/forks"));
  const file = records.names().find((name) => name.endsWith(".json")) ?? "";
  const { marked: _, ...record } = JSON.parse(records.read(file));
  records.write(file, JSON.stringify(record));
  rmSync(repository.at(".git/worktrees/repository-fork/backtrail-fork.json"));
  expect((await repository.run(["fork", "diff", "repository-fork"])).stdout).toContain("precious.txt");
  const refused = await drop(repository);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("an older version created it");
  expect(isPrecious(directory)).toBe(true);
  expect((await repository.run(["fork", "drop", "repository-fork", "--yes"])).code).toBe(0);
  expect(existsSync(directory)).toBe(false);
  expect((await repository.run(["rewind", "fork repository-fork", "--yes"])).code).toBe(0);
  expect(isPrecious(repository.path)).toBe(true);
});
