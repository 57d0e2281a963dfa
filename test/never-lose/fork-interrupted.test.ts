/** A fork that was killed while it was made or dropped, and files of the user's at its place: they stay. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/index.ts";

async function enabled(repository: TemporaryRepository): Promise<string> {
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "start"]);
  return `${repository.path}-fork`;
}

function put(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "mine.txt"), "mine\n");
}

function isMine(directory: string): boolean {
  return readFileSync(join(directory, "mine.txt"), "utf8") === "mine\n";
}

const fork = (repository: TemporaryRepository, directory: string, env: Record<string, string> = {}) =>
  repository.run(["fork", "start", "--directory", directory], { env });

test("killed before its directory was made", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  expect((await fork(repository, directory, { BACKTRAIL_FAULT: "fork:record" })).signal).toBe("SIGKILL");
  put(directory);
  // A branch of that name that the user has made is theirs as well.
  repository.git("branch", "fork/repository-fork");
  const next = await repository.run(["log"]);
  expect(next.stderr).toContain("Removed the fork repository-fork");
  expect(isMine(directory)).toBe(true);
  expect(repository.git("branch", "--list", "fork/*").trim()).toBe("fork/repository-fork");
});

test("killed while git fills it: what git has put there goes, files of the user's stay", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  expect((await fork(repository, directory, { BACKTRAIL_FAULT: "worktree:marked" })).signal).toBe("SIGKILL");
  put(directory);
  writeFileSync(join(directory, "README.md"), repository.read("README.md"));
  const next = await repository.run(["log"]);
  expect(next.stderr).toContain(`mine.txt exists nowhere else, so it stays in ${directory}`);
  expect(isMine(directory)).toBe(true);
  expect(readdirSync(directory)).toEqual(["mine.txt"]);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(repository.git("branch", "--list")).toBe("* main");
});

test("a file that git would have to write over stays, and so does the fork's place", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  const bin = join(repository.home, "bin");
  mkdirSync(bin);
  const git = Bun.which("git") ?? "";
  const write = `case "$*" in *read-tree*) echo mine > ${directory}/README.md;; esac`;
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${write}\nexec ${git} "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const made = await fork(repository, directory, { PATH: `${bin}:${process.env["PATH"]}` });
  expect(made.code).toBe(1);
  expect(made.stderr).toContain("README.md");
  expect(readFileSync(join(directory, "README.md"), "utf8")).toBe("mine\n");
  expect(readdirSync(directory)).toEqual(["README.md"]);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  expect(repository.git("branch", "--list")).toBe("* main");
});

test("a directory that appears while git makes the worktree is not cleared away", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  const bin = join(repository.home, "bin");
  mkdirSync(bin);
  const git = Bun.which("git") ?? "";
  const write = `case "$*" in *"worktree add"*) mkdir -p ${directory}; echo mine > ${directory}/mine.txt;; esac`;
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${write}\nexec ${git} "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const made = await fork(repository, directory, { PATH: `${bin}:${process.env["PATH"]}` });
  expect(made.code).toBe(1);
  expect(isMine(directory)).toBe(true);
  expect(repository.git("branch", "--list")).toBe("* main");
  expect((await repository.json<{ forks: unknown[] }>(["fork", "list"])).forks).toEqual([]);
});

for (const point of ["fork:renamed", "fork:nested", "removal:emptied", "fork:removed", "fork:forgotten"]) {
  test(`a drop that was killed at ${point}, and a directory of the user's since`, async () => {
    using repository = temporaryRepository();
    const directory = await enabled(repository);
    expect((await fork(repository, directory)).code).toBe(0);
    writeFileSync(join(directory, "work.txt"), "work\n");
    const env = { BACKTRAIL_FAULT: point };
    expect((await repository.run(["fork", "drop", "repository-fork"], { env })).signal).toBe("SIGKILL");
    expect(existsSync(directory)).toBe(false);
    put(directory);
    const next = await repository.run(["log"]);
    expect(next.stderr).toContain("Finished dropping the fork repository-fork");
    expect(isMine(directory)).toBe(true);
    expect((await repository.json<{ forks: unknown[] }>(["fork", "list"])).forks).toEqual([]);
    expect((await repository.run(["rewind", "fork repository-fork", "--yes"])).code).toBe(0);
    expect(repository.read("work.txt")).toBe("work\n");
  });
}

test("a drop that was killed before anything was removed: the fork stays as it is", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  expect((await fork(repository, directory)).code).toBe(0);
  const env = { BACKTRAIL_FAULT: "fork:dropping" };
  expect((await repository.run(["fork", "drop", "repository-fork"], { env })).signal).toBe("SIGKILL");
  put(directory);
  expect((await repository.run(["log"])).stderr).toContain("is still there");
  expect(isMine(directory)).toBe(true);
  expect((await repository.run(["fork", "diff", "repository-fork"])).stdout).toContain("mine.txt");
});

test("a drop that was killed before anything was removed, and the fork moved with git since", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  expect((await fork(repository, directory)).code).toBe(0);
  const env = { BACKTRAIL_FAULT: "fork:dropping" };
  expect((await repository.run(["fork", "drop", "repository-fork"], { env })).signal).toBe("SIGKILL");
  const moved = `${directory}-moved`;
  repository.git("worktree", "move", directory, moved);
  put(moved);
  put(directory);
  expect((await repository.run(["log"])).stderr).toContain("is still there");
  expect([isMine(moved), isMine(directory)]).toEqual([true, true]);
  expect((await repository.run(["fork", "diff", "repository-fork"])).stdout).toContain("mine.txt");
});

for (const point of ["folder:link", "folder:made", "folder:marked"]) {
  test(`of a folder without git, killed at ${point}`, async () => {
    using folder = temporaryFolder();
    folder.write("a.txt", "1\n");
    const directory = await enabled(folder);
    expect((await fork(folder, directory, { BACKTRAIL_FAULT: point })).signal).toBe("SIGKILL");
    put(directory);
    expect((await folder.run(["log"])).stderr).toContain("Removed the fork");
    expect(isMine(directory)).toBe(true);
    expect(readdirSync(directory)).toEqual(["mine.txt"]);
    rmSync(directory, { recursive: true });
    expect((await fork(folder, directory)).code).toBe(0);
    expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("1\n");
  });
}

test("a drop that was killed, and finished later: the note names where its commits are", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  await fork(repository, directory);
  const git = (...args: string[]) => repository.git("-C", directory, ...args);
  writeFileSync(join(directory, "own.txt"), "own\n");
  git("add", "-A");
  git("commit", "--quiet", "--message", "own");
  const commit = git("rev-parse", "HEAD");
  const env = { BACKTRAIL_FAULT: "fork:removed" };
  expect((await repository.run(["fork", "drop", "repository-fork", "--yes"], { env })).signal).toBe("SIGKILL");
  const { stderr } = await repository.run(["log"]);
  const ref = /Commits that only it had are kept: git log (refs\/backtrail\/dropped\/\S+)/.exec(stderr)?.[1] ?? "";
  expect(repository.git("rev-parse", ref)).toBe(commit);
});

test("changes staged while the fork is dropped are kept and named", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  await fork(repository, directory);
  const bin = join(repository.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "looks"), "");
  const git = Bun.which("git") ?? "";
  // Commits are looked for once the plan and the drop have looked at the files.
  const stage = `cd ${directory} && id=$(echo late | ${git} hash-object -w --stdin) && ${git} update-index --add --cacheinfo 100644,$id,late.txt`;
  const script = `case "$*" in
  *" status "*) echo >>${bin}/looks;;
  *rev-list*) [ -e ${bin}/done ] || [ "$(wc -l <${bin}/looks)" -lt 2 ] || { touch ${bin}/done; (${stage}); };;
esac`;
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${script}\nexec ${git} "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  // A worker would look at the files, too.
  const env = { PATH: `${bin}:${process.env["PATH"]}`, BACKTRAIL_WORKER: "off" };
  const { stdout, code } = await repository.run(["fork", "drop", "repository-fork", "--yes"], { env });
  expect([code, existsSync(join(bin, "done"))]).toEqual([0, true]);
  const ref = /kept: git ls-tree -r (\S+)/.exec(stdout)?.[1] ?? "";
  expect(repository.git("show", `${ref}:0/late.txt`)).toBe("late");
});

test("a killed drop, and changes staged before it was finished", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  await fork(repository, directory);
  const env = { BACKTRAIL_FAULT: "fork:renamed" };
  expect((await repository.run(["fork", "drop", "repository-fork", "--yes"], { env })).signal).toBe("SIGKILL");
  const admin = readdirSync(repository.at(".git/worktrees"))[0] ?? "";
  const id = repository.git("rev-parse", "HEAD:README.md");
  repository.git(
    "--git-dir",
    `.git/worktrees/${admin}`,
    "update-index",
    "--add",
    "--cacheinfo",
    `100644,${id},late.txt`,
  );
  const { stderr } = await repository.run(["log"]);
  const ref = /kept: git ls-tree -r (\S+)/.exec(stderr)?.[1] ?? "";
  expect(repository.git("rev-parse", `${ref}:0/late.txt`)).toBe(id);
});

test("a restore that was killed in the fork is finished before the fork is dropped", async () => {
  using repository = temporaryRepository();
  const directory = await enabled(repository);
  await fork(repository, directory);
  writeFileSync(join(directory, "README.md"), "changed\n");
  writeFileSync(join(directory, "own.txt"), "own\n");
  const env = { BACKTRAIL_FAULT: "restore:file:0" };
  const killed = await repository.run(["-C", directory, "rewind", "start", "--yes", "--code-only"], { env });
  expect(killed.signal).toBe("SIGKILL");
  const { stdout, stderr, code } = await repository.run(["fork", "drop", "repository-fork", "--yes"]);
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("Finished an interrupted rewind")]);
  const restores = readdirSync(repository.at(".git/backtrail/worktrees")).flatMap((name) => {
    const place = repository.at(".git/backtrail/worktrees", name, "restore");
    return existsSync(place) ? readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : [];
  });
  expect(restores).toEqual([]);
});
