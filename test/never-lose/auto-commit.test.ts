/** The strategy auto-commit takes what the turn has changed, and nothing that the user has staged or changed. */
import { expect, test } from "bun:test";
import { chmodSync, rmSync } from "node:fs";
import { settled } from "../journeys/commits.ts";
import { bash, edit, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

/** On a branch of its own, with f.txt committed, and no worker but those that a test runs. */
async function automatic(): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude }> {
  const repository = temporaryRepository();
  const environment = repository.environment.bind(repository);
  repository.environment = (extra) => environment({ BACKTRAIL_WORKER: "off", ...extra });
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["config", "set", "strategy", "auto-commit"]);
  repository.git("checkout", "--quiet", "-b", "work");
  repository.write("f.txt", "1\n2\n3\n");
  repository.commit("f");
  return { repository, claude: new ScriptedClaude(repository) };
}

/** The user stages one line of f.txt and another file, and changes another line without staging it. */
function stageSome(repository: TemporaryRepository): void {
  repository.write("f.txt", "STAGED\n2\n3\n");
  repository.write("other.txt", "other\n");
  repository.git("add", "f.txt", "other.txt");
  repository.write("f.txt", "STAGED\n2\nNOT STAGED\n");
}

function hook(repository: TemporaryRepository, script: string): void {
  const path = repository.write(".git/hooks/pre-commit", `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

const worker = (repository: TemporaryRepository, env: Record<string, string> = {}) =>
  repository.run(["worker", repository.path], { env });

test("partly staged files: the commit has the turn's line, and staged changes stay staged", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  stageSome(repository);
  await claude.turn("Second line", [edit("f.txt", "2", "TURN"), write("own.txt", "own\n")]);
  await worker(repository);
  expect(repository.git("log", "-1", "--format=%s")).toBe("Second line");
  expect(repository.git("show", "--name-only", "--format=", "HEAD").split("\n")).toEqual(["f.txt", "own.txt"]);
  expect(repository.git("show", "HEAD:f.txt")).toBe("1\nTURN\n3");
  expect(repository.git("show", ":f.txt")).toBe("STAGED\nTURN\n3");
  expect(repository.read("f.txt")).toBe("STAGED\nTURN\nNOT STAGED\n");
  expect(repository.git("status", "--porcelain").split("\n")).toEqual(["MM f.txt", "A  other.txt"]);
  // The user's own lines are nothing that waits for a commit of the session's.
  const { pending } = await repository.json<{ pending: unknown[] }>(["status"]);
  expect(pending).toEqual([]);
});

test("a hook that refuses the commit leaves everything as it was", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  stageSome(repository);
  hook(repository, "exit 1");
  await claude.turn("Second line", [edit("f.txt", "2", "TURN")]);
  const before = repository.git("ls-files", "--stage");
  await worker(repository);
  expect(repository.git("log", "-1", "--format=%s")).toBe("f");
  expect(repository.git("ls-files", "--stage")).toBe(before);
  expect(repository.read("f.txt")).toBe("STAGED\nTURN\nNOT STAGED\n");
  rmSync(repository.at(".git/hooks/pre-commit"));
  await worker(repository);
  expect(repository.git("show", "HEAD:f.txt")).toBe("1\nTURN\n3");
});

test("while another git holds the index, nothing is committed: the index could not follow", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  await claude.turn("Second line", [edit("f.txt", "2", "TURN")]);
  repository.write(".git/index.lock", "");
  await worker(repository);
  expect(repository.git("log", "-1", "--format=%s")).toBe("f");
  rmSync(repository.at(".git/index.lock"));
  await worker(repository);
  expect(repository.git("log", "-1", "--format=%s")).toBe("Second line");
  expect(repository.git("status", "--porcelain")).toBe("");
});

test("a file with mixed changes that can't be separated is left to the user, and status says so", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  repository.write("f.txt", "1\nMINE\n3\n");
  repository.git("add", "f.txt");
  await claude.turn("The same line", [edit("f.txt", "MINE", "MINE AND THE TURN'S"), write("own.txt", "own\n")]);
  await worker(repository);
  expect(repository.git("show", "--name-only", "--format=", "HEAD")).toBe("own.txt");
  expect([repository.git("show", ":f.txt"), repository.read("f.txt")]).toEqual([
    "1\nMINE\n3",
    "1\nMINE AND THE TURN'S\n3\n",
  ]);
  const { leftToUser } = await repository.json<{ leftToUser: { path: string }[] }>(["status"]);
  expect(leftToUser.map(({ path }) => path)).toEqual(["f.txt"]);
  expect((await repository.run(["status"])).stdout).toContain("auto-commit did not commit f.txt");
  repository.git("commit", "--quiet", "--all", "--message", "mine");
  await claude.turn("Only talk", []);
  await worker(repository);
  expect((await repository.run(["status"])).stdout).not.toContain("auto-commit did not commit");
});

test("what a hook of the user's changes on the way is committed, and the index follows", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  repository.write("other.txt", "other\n");
  repository.git("add", "other.txt");
  hook(repository, "echo formatted >>own.txt && date >made.txt && git add own.txt made.txt");
  await claude.turn("Write it", [write("own.txt", "own\n")]);
  await worker(repository);
  expect(repository.git("show", "HEAD:own.txt")).toBe("own\nformatted");
  expect(repository.git("show", "--name-only", "--format=", "HEAD").split("\n")).toEqual(["made.txt", "own.txt"]);
  expect(repository.git("status", "--porcelain")).toBe("A  other.txt");
});

test("what the user stages while the hook runs stays staged", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  hook(repository, "printf '1\\nMINE\\n3\\n' >f.txt && env -u GIT_INDEX_FILE git add f.txt");
  await claude.turn("Write it", [edit("f.txt", "3", "TURN")]);
  await worker(repository);
  expect(repository.git("show", "HEAD:f.txt")).toBe("1\n2\nTURN");
  expect(repository.git("show", ":f.txt")).toBe("1\nMINE\n3");
});

test("a file that only the user may read is committed whole", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  repository.write("private.txt", "1\n2\nMINE\n");
  chmodSync(repository.at("private.txt"), 0o600);
  await claude.turn("Write it", [write("own.txt", "own\n"), bash("umask 077; echo mine >secret.txt; echo 0 >>f.txt")]);
  await worker(repository);
  expect(repository.git("show", "--name-only", "--format=", "HEAD").split("\n")).toEqual([
    "f.txt",
    "own.txt",
    "secret.txt",
  ]);
  expect(repository.git("show", "HEAD:secret.txt")).toBe("mine");
  expect(repository.git("fsck", "--strict", "--no-dangling")).toBe("");
  expect(repository.git("status", "--porcelain")).toBe("?? private.txt");
});

test("a turn that was undone meanwhile is not committed", async () => {
  const { repository, claude } = await automatic();
  using _ = repository;
  hook(repository, "exit 1");
  repository.write("f.txt", "1\n2\nMINE\n");
  await claude.turn("First line", [edit("f.txt", "1", "TURN")]);
  await worker(repository);
  expect((await repository.run(["undo", "last", "--yes"])).code).toBe(0);
  rmSync(repository.at(".git/hooks/pre-commit"));
  await worker(repository);
  expect([repository.git("log", "-1", "--format=%s"), repository.read("f.txt")]).toEqual(["f", "1\n2\nMINE\n"]);
});

test("killed before and after the commit, the next worker finishes it", async () => {
  for (const point of ["auto-commit:ready", "auto-commit:made", "index:locked", "index:changed"]) {
    const { repository, claude } = await automatic();
    using _ = repository;
    stageSome(repository);
    await claude.turn("Second line", [edit("f.txt", "2", "TURN")]);
    const killed = await worker(repository, { BACKTRAIL_FAULT: point });
    expect([point, killed.signal]).toEqual([point, "SIGKILL"]);
    await worker(repository);
    await settled(repository);
    expect([point, repository.git("log", "--format=%s", "main..")]).toEqual([point, "Second line\nf"]);
    expect([repository.git("show", "HEAD:f.txt"), repository.git("show", ":f.txt")]).toEqual([
      "1\nTURN\n3",
      "STAGED\nTURN\n3",
    ]);
    expect(repository.git("status", "--porcelain").split("\n")).toEqual(["MM f.txt", "A  other.txt"]);
    expect(repository.exists(".git/backtrail/worktrees/main/auto-commit.json")).toBe(false);
  }
}, 60_000);
