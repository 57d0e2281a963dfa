/** Forks where repositories are not as usual, and of what can't be forked. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, runProgram, temporaryRepository, write } from "../support/index.ts";
import { permissionsCount } from "../support/recording.ts";
import { Attempts } from "./forks.ts";

test("of a detached HEAD: a new branch at its commit", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  repository.git("checkout", "--quiet", "--detach");
  await agent.turn("First", [write("a.txt", "1\n")]);
  const { fork } = await attempts.fork("last");
  expect(repository.git("-C", fork.directory, "branch", "--show-current")).toBe(fork.branch);
  expect(attempts.look(fork.directory)).toEqual(attempts.look());
});

test("of a repository without a commit: a branch that has none either", async () => {
  using attempts = await Attempts.begin(temporaryRepository({ empty: true }));
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n"), write("b.txt", "1\n")]);
  repository.git("add", "a.txt");
  await agent.turn("Second", [write("a.txt", "2\n")]);
  const { fork } = await attempts.fork("1");
  expect(repository.git("-C", fork.directory, "status", "--porcelain", "--branch")).toBe(
    `## No commits yet on ${fork.branch}\nA  a.txt\n?? b.txt`,
  );
  expect(readFileSync(join(fork.directory, "a.txt"), "utf8")).toBe("1\n");
  expect((await repository.run(["fork", "drop", fork.name])).code).toBe(0);
});

test("of a linked worktree, into the same place beside the repository", async () => {
  using attempts = await Attempts.begin();
  const { repository } = attempts;
  const linked = `${repository.path}-linked`;
  repository.git("worktree", "add", "--quiet", "-b", "linked", linked);
  writeFileSync(join(linked, "a.txt"), "1\n");
  expect((await repository.run(["save", "there"], { cwd: linked })).code).toBe(0);
  const made = await repository.run(["fork", "there", "--json"], { cwd: linked });
  const { fork } = JSON.parse(made.stdout) as { fork: { directory: string } };
  expect(fork.directory).toBe(`${repository.path}.forks/there`);
  expect(readFileSync(join(fork.directory, "a.txt"), "utf8")).toBe("1\n");
});

test("of a submodule: beside the outer repository, which does not show it", async () => {
  using inner = temporaryRepository();
  using attempts = await Attempts.begin();
  const { repository } = attempts;
  repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "lib");
  repository.commit("lib");
  const lib = repository.at("lib");
  expect((await repository.run(["enable", "--agent", "claude-code"], { cwd: lib })).code).toBe(0);
  writeFileSync(join(lib, "a.txt"), "1\n");
  expect((await repository.run(["save", "inside"], { cwd: lib })).code).toBe(0);
  const made = await repository.run(["fork", "inside", "--json"], { cwd: lib });
  const { fork } = JSON.parse(made.stdout) as { fork: { directory: string } };
  expect(fork.directory).toBe(`${repository.path}.forks/inside`);
  expect(readFileSync(join(fork.directory, "a.txt"), "utf8")).toBe("1\n");
  expect(repository.git("-C", fork.directory, "status", "--porcelain")).toBe("?? a.txt");
  // And of the repository around it: the submodule is not filled, and that is said.
  await attempts.agent.turn("Around", [write("b.txt", "1\n")]);
  const around = await attempts.fork("last");
  expect(readFileSync(join(around.fork.directory, "b.txt"), "utf8")).toBe("1\n");
  expect(around.notes.join()).toContain("git submodule update --init");
});

test("of a sparse checkout: the same part of the files", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  repository.write("in/a.txt", "a\n");
  repository.write("out/b.txt", "b\n");
  repository.commit("parts");
  repository.git("sparse-checkout", "set", "in");
  await agent.turn("First", [write("in/a.txt", "changed\n")]);
  const { fork } = await attempts.fork("last");
  expect(readFileSync(join(fork.directory, "in/a.txt"), "utf8")).toBe("changed\n");
  expect(repository.git("-C", fork.directory, "status", "--porcelain")).toBe(" M in/a.txt");
  expect(existsSync(join(fork.directory, "out"))).toBe(repository.exists("out"));
});

test("the user's hooks are not run, and a filter's files come out as git writes them", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  repository.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch ran\nexit 1\n");
  chmodSync(repository.at(".git/hooks/post-checkout"), 0o755);
  repository.git("config", "filter.up.clean", "tr a-z A-Z");
  repository.git("config", "filter.up.smudge", "tr A-Z a-z");
  repository.write(".gitattributes", "*.up filter=up\n");
  repository.write("x.up", "small\n");
  repository.commit("filter");
  await agent.turn("First", [write("x.up", "smaller\n")]);
  const { fork } = await attempts.fork("last");
  expect(readFileSync(join(fork.directory, "x.up"), "utf8")).toBe("smaller\n");
  expect(existsSync(join(fork.directory, "ran"))).toBe(false);
});

test("places and names that can't be had are refused, and nothing is left", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First; rm -rf / $(touch x) `y`\n\u001b[31m ../../etc", [write("a.txt", "1\n")]);
  const taken = `${repository.path}-taken`;
  mkdirSync(taken);
  writeFileSync(join(taken, "mine.txt"), "mine\n");
  const refuse = async (code: number, ...args: string[]) => {
    const result = await repository.run(["fork", "last", ...args]);
    expect({ args, code: result.code }).toEqual({ args, code });
    return result.stderr;
  };
  expect(await refuse(4, "--directory", taken)).toContain("already exists");
  expect(await refuse(4, "--directory", "below")).toContain("is inside the work tree");
  expect(await refuse(4, "--directory", ".git/fork")).toContain("git's own directory");
  expect(await refuse(4, "--branch", "main")).toContain("A branch main already exists");
  for (const name of ["-x", "a..b", "a b", "x.lock", "HEAD", "a\nb", "@{-1}"]) await refuse(2, "--branch", name);
  expect(await refuse(2, "--limit", "5")).toContain("from 1000 to 100000");
  expect((await repository.run(["fork"])).code).toBe(2);
  expect((await repository.run(["fork", "nothing-like-it"])).code).toBe(3);
  expect(readFileSync(join(taken, "mine.txt"), "utf8")).toBe("mine\n");
  expect(repository.git("branch", "--list")).toBe("* main");
  expect((await repository.json<{ forks: unknown[] }>(["fork", "list"])).forks).toEqual([]);

  const { fork } = await attempts.fork("last");
  expect(fork.name).toBe("first-rm-rf-touch");
  const odd = join(`${repository.path} odd`, "it's $HOME; ü");
  const other = await attempts.fork("last", "--directory", odd);
  expect(readFileSync(join(odd, "a.txt"), "utf8")).toBe("1\n");
  const went = await runProgram("sh", ["-c", `${other.fork.chat?.command.replace(/&& claude.*/, "")} && pwd`], {
    cwd: "/",
    env: repository.environment(),
  });
  expect(went.stdout.trim()).toBe(odd);
});

test.skipIf(!permissionsCount)("an unwritable directory is reported, and nothing is left", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("First", [write("a.txt", "1\n")]);
  const locked = `${repository.path}-locked`;
  mkdirSync(locked);
  chmodSync(locked, 0o555);
  const command = [executable(), "fork", "last", "--directory", join(locked, "x")];
  const without = "-dac_override,-dac_read_search";
  const wrapped =
    process.getuid?.() === 0
      ? ["setpriv", `--bounding-set=${without}`, `--inh-caps=${without}`, "--", ...command]
      : command;
  const result = await runProgram(wrapped[0] ?? "", wrapped.slice(1), {
    cwd: repository.path,
    env: repository.environment(),
  });
  expect(result.code).toBe(1);
  expect(result.stderr).toContain("The fork could not be created");
  expect(result.stderr).toContain("--directory");
  expect(repository.git("branch", "--list")).toBe("* main");
  expect((await repository.json<{ forks: unknown[] }>(["fork", "list"])).forks).toEqual([]);
  chmodSync(locked, 0o755);
});

test("with a required filter that fails, the filter is named, and a branch alone can be made", async () => {
  using attempts = await Attempts.begin();
  const { repository } = attempts;
  for (const [key, value] of Object.entries({ clean: "cat", smudge: "false", required: "true" }))
    repository.git("config", `filter.broken.${key}`, value);
  repository.write(".gitattributes", "*.bin filter=broken\n");
  repository.write("a.bin", "1\n");
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "-m", "filtered");
  expect((await repository.run(["save", "there"])).code).toBe(0);
  const refused = await repository.run(["fork", "there"]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("a.bin: smudge filter broken failed.");
  expect(refused.stderr).toContain("repair the filter");
  expect(refused.stderr).not.toContain("--directory");
  expect((await repository.run(["fork", "there", "--branch-only"])).code).toBe(0);
});
