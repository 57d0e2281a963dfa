/** The strategy `auto-commit`: a commit a turn, of the turn's own files. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, inCheckpoint, settled } from "./commits.ts";

async function automatic(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  expect((await repository.run(["config", "set", "strategy", "auto-commit"])).code).toBe(0);
  return repository;
}

test("each turn that changed files is a commit of these files, linked to its checkpoint", async () => {
  using repository = await automatic();
  repository.git("checkout", "--quiet", "-b", "work");
  const claude = new ScriptedClaude(repository);
  repository.write("mine.txt", "mine\n");
  repository.git("add", "mine.txt");
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  await claude.turn("Only talk", []);
  await settled(repository);
  expect(repository.git("log", "--format=%s", "main..work")).toBe("Add a greeting");
  expect(repository.git("show", "--name-only", "--format=", "HEAD")).toBe("hello.txt");
  expect(repository.git("diff", "--cached", "--name-only")).toBe("mine.txt");
  const [id = ""] = checkpointsOf(repository, "HEAD");
  await settled(repository);
  expect(JSON.parse(inCheckpoint(repository, id, "metadata.json"))).toMatchObject({ strategy: "auto-commit" });
});

test("git's maintenance is left to the user's own commits: killed with us, it would leave its lock", async () => {
  using repository = await automatic();
  repository.git("checkout", "--quiet", "-b", "work");
  const environment = repository.environment.bind(repository);
  repository.environment = (extra) => environment({ BACKTRAIL_WORKER: "off", ...extra });
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
  const trace = join(repository.home, "trace");
  await repository.run(["worker", repository.path], { env: { GIT_TRACE2_EVENT: trace } });
  expect(repository.git("log", "-1", "--format=%s")).toBe("Add a greeting");
  const started = readFileSync(trace, "utf8");
  expect(started).toContain('"commit"');
  expect(started).not.toContain('"maintenance"');
});

test("a directory that has become a link is committed as one", async () => {
  using repository = await automatic();
  repository.git("checkout", "--quiet", "-b", "work");
  repository.write("old/a.txt", "a\n");
  repository.write("new/a.txt", "a\n");
  repository.commit("two directories");
  await new ScriptedClaude(repository).turn("Link it", [bash("rm -r old && ln -s new old")]);
  await settled(repository);
  expect(repository.git("log", "-1", "--format=%s")).toBe("Link it");
  expect(repository.git("ls-tree", "-r", "--format=%(objectmode) %(path)", "HEAD")).toContain("120000 old");
  expect(repository.git("status", "--porcelain")).toBe("");
});

test("never on a protected branch", async () => {
  using repository = await automatic();
  const head = repository.git("rev-parse", "HEAD");
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  expect(repository.git("rev-parse", "HEAD")).toBe(head);
});

test("which branches are protected is a setting: names, patterns, and origin's default", async () => {
  using repository = await automatic();
  const claude = new ScriptedClaude(repository);
  const committed = async (branch: string, file: string) => {
    repository.git("checkout", "--quiet", "-B", branch);
    await claude.turn(`Write ${file}`, [write(file, `${file}\n`)]);
    await settled(repository);
    return repository.git("log", "-1", "--format=%s") === `Write ${file}`;
  };
  expect((await repository.run(["config", "set", "auto_commit.protected", '["release/*", "origin/HEAD"]'])).code).toBe(
    0,
  );
  expect(await committed("main", "a.txt")).toBe(true);
  expect(await committed("release/2", "b.txt")).toBe(false);
  repository.git("update-ref", "refs/remotes/origin/trunk", "HEAD");
  repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
  expect(await committed("trunk", "c.txt")).toBe(false);
  expect(await committed("work", "d.txt")).toBe(true);
});

test("a turn that ends while the worker runs is committed, too", async () => {
  using repository = await automatic();
  repository.git("checkout", "--quiet", "-b", "work");
  // Keeps the first commit, and with it the worker, waiting.
  repository.write(".git/hooks/pre-commit", "#!/bin/sh\n: >.git/begun\nuntil [ -e .git/go ]; do sleep 0.02; done\n");
  chmodSync(repository.at(".git/hooks/pre-commit"), 0o755);
  const claude = new ScriptedClaude(repository);
  await claude.turn("First", [write("a.txt", "a\n")]);
  await until(() => repository.exists(".git/begun"));
  await claude.turn("Second", [write("b.txt", "b\n")]);
  repository.write(".git/go", "");
  await until(() => repository.git("log", "--format=%s", "main..work") === "Second\nFirst");
  await settled(repository);
}, 60_000);

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isSo()).toBe(true);
}
