/** Our hooks beside everybody else's: theirs come first, their word counts, and `disable` leaves no trace. */
import { expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, settled } from "./commits.ts";

function script(repository: TemporaryRepository, name: string, ...lines: string[]): void {
  chmodSync(repository.write(name, `${lines.join("\n")}\n`), 0o755);
}

async function enable(repository: TemporaryRepository): Promise<void> {
  expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
}

async function turn(repository: TemporaryRepository): Promise<void> {
  await new ScriptedClaude(repository).turn("Add a greeting", [write("hello.txt", "hello\n")]);
}

/** Names, modes and bytes of everything in a directory. */
function pictureOf(directory: string): string[] {
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const stat = statSync(path);
      return `${name} ${stat.mode.toString(8)} ${stat.isFile() ? readFileSync(path, "base64") : ""}`;
    });
}

test("existing hooks run first, and one that refuses stops the commit", async () => {
  using repository = temporaryRepository();
  script(repository, ".git/hooks/prepare-commit-msg", "#!/bin/sh", 'echo "by hand: $2" >>"$1"');
  script(repository, ".git/hooks/commit-msg", "#!/usr/bin/env bash", '[[ $(head -1 "$1") != bad* ]] || exit 3');
  script(repository, ".git/hooks/post-rewrite", "#!/bin/sh", 'cat >"$(git rev-parse --git-dir)/seen"');
  const before = pictureOf(repository.at(".git/hooks"));
  await enable(repository);
  await turn(repository);
  repository.git("add", "--all");
  expect(() => repository.git("commit", "--quiet", "--message", "bad")).toThrow();
  repository.git("commit", "--quiet", "--message", "good");
  expect(repository.git("log", "-1", "--format=%B")).toContain("by hand: message");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  repository.git("commit", "--quiet", "--amend", "--message", "better");
  expect(repository.read(".git/seen")).toContain(repository.git("rev-parse", "HEAD"));
  await repository.run(["disable"]);
  expect(pictureOf(repository.at(".git/hooks"))).toEqual(before);
});

test("enabling twice wraps nothing twice", async () => {
  using repository = temporaryRepository();
  script(repository, ".git/hooks/commit-msg", "#!/bin/sh", "exit 0");
  const before = pictureOf(repository.at(".git/hooks"));
  await enable(repository);
  const once = pictureOf(repository.at(".git/hooks"));
  await enable(repository);
  expect(pictureOf(repository.at(".git/hooks"))).toEqual(once);
  await repository.run(["disable"]);
  expect(pictureOf(repository.at(".git/hooks"))).toEqual(before);
});

test("husky's generated directory is served, and its hooks still find their own names", async () => {
  using repository = temporaryRepository();
  const names = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push"];
  for (const name of names) script(repository, `.husky/_/${name}`, "#!/usr/bin/env sh", '. "$(dirname "$0")/h"');
  repository.write(
    ".husky/_/h",
    '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nc=$?\nexit $c\n',
  );
  repository.write(".husky/_/.gitignore", "*");
  repository.write(".husky/commit-msg", 'grep -q refused "$1" && exit 1\nexit 0\n');
  repository.commit("husky");
  repository.git("config", "core.hooksPath", ".husky/_");
  const before = pictureOf(repository.at(".husky/_"));
  await enable(repository);
  await turn(repository);
  repository.git("add", "--all");
  expect(() => repository.git("commit", "--quiet", "--message", "refused")).toThrow();
  repository.git("commit", "--quiet", "--message", "fine");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  expect(repository.git("status", "--porcelain")).toBe("");
  // As husky's own installation does it, with each `npm install`.
  for (const name of names) script(repository, `.husky/_/${name}`, "#!/usr/bin/env sh", '. "$(dirname "$0")/h"');
  await settled(repository);
  expect(repository.read(".husky/_/post-commit")).toContain("Backtrail");
  await repository.run(["disable"]);
  expect(pictureOf(repository.at(".husky/_"))).toEqual(before);
});

test("hooks that git tracks are never written to: ours stand before them, and the configuration comes back", async () => {
  using repository = temporaryRepository();
  script(repository, "hooks/pre-commit", "#!/bin/sh", "[ ! -e forbidden ]");
  script(repository, "hooks/commit-msg", "#!/bin/sh", 'grep -q refused "$1" && exit 1', "exit 0");
  repository.commit("hooks");
  repository.git("config", "core.hooksPath", "hooks");
  const before = repository.read(".git/config");
  await enable(repository);
  expect(repository.git("status", "--porcelain")).toBe("");
  await turn(repository);
  repository.git("add", "--all");
  expect(() => repository.git("commit", "--quiet", "--message", "refused")).toThrow();
  repository.write("forbidden", "");
  expect(() => repository.git("commit", "--quiet", "--message", "fine")).toThrow();
  rmSync(repository.at("forbidden"));
  repository.git("commit", "--quiet", "--message", "fine");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  await repository.run(["disable"]);
  expect(repository.read(".git/config")).toBe(before);
});

test("hooks that another tool's installation overwrote are reinstalled, with its hook first", async () => {
  using repository = temporaryRepository();
  await enable(repository);
  await turn(repository);
  script(repository, ".git/hooks/prepare-commit-msg", "#!/bin/sh", 'echo "theirs" >>"$1"');
  await settled(repository);
  repository.commit("Greet");
  expect(repository.git("log", "-1", "--format=%B")).toContain("theirs");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  await repository.run(["disable"]);
  expect(repository.read(".git/hooks/prepare-commit-msg")).toBe('#!/bin/sh\necho "theirs" >>"$1"\n');
});

test("after lefthook's installation, which moves our hooks aside, they are reinstalled, and nothing is left behind", async () => {
  using repository = temporaryRepository();
  const theirs = ["#!/bin/sh", "# LEFTHOOK", 'grep -q refused "$1" && exit 1', "exit 0"];
  script(repository, ".git/hooks/commit-msg", ...theirs);
  const before = pictureOf(repository.at(".git/hooks"));
  await enable(repository);
  await turn(repository);
  renameSync(repository.at(".git/hooks/commit-msg"), repository.at(".git/hooks/commit-msg.old"));
  script(repository, ".git/hooks/commit-msg", ...theirs);
  await settled(repository);
  expect(repository.exists(".git/hooks/commit-msg.old")).toBe(false);
  repository.git("add", "--all");
  expect(() => repository.git("commit", "--quiet", "--message", "refused")).toThrow();
  repository.git("commit", "--quiet", "--message", "fine");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
  await repository.run(["disable"]);
  expect(pictureOf(repository.at(".git/hooks"))).toEqual(before);
});

test("a bare PATH, as a graphical client has it, is enough", async () => {
  using repository = temporaryRepository();
  await enable(repository);
  await turn(repository);
  mkdirSync(repository.at(".git/bin"));
  symlinkSync(execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim(), repository.at(".git/bin/git"));
  repository.git("add", "--all");
  const env = { ...repository.environment(), PATH: repository.at(".git/bin") };
  const done = spawnSync(repository.at(".git/bin/git"), ["commit", "-q", "-m", "Greet"], { cwd: repository.path, env });
  expect(done.stderr.toString()).toBe("");
  expect(checkpointsOf(repository, "HEAD")).toHaveLength(1);
});

test("after Backtrail is removed from the machine, commits still work", async () => {
  using repository = temporaryRepository();
  await enable(repository);
  await turn(repository);
  for (const name of ["prepare-commit-msg", "post-commit", "commit-msg"]) {
    const path = `.git/hooks/${name}`;
    repository.write(path, repository.read(path).replaceAll(/'[^']*backtrail'/g, "'/nowhere/backtrail'"));
  }
  expect(repository.commit("Greet")).toMatch(/^[0-9a-f]{40}$/);
  expect(checkpointsOf(repository, "HEAD")).toEqual([]);
});

test("with no session concerned, a commit starts no process of ours", async () => {
  using repository = temporaryRepository();
  await enable(repository);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  const watched = () => {
    for (const name of ["prepare-commit-msg", "post-commit", "commit-msg"]) {
      const path = `.git/hooks/${name}`;
      repository.write(path, repository.read(path).replaceAll(/'[^']*backtrail' hooks/g, "echo >>.git/called; true"));
    }
  };
  watched();
  repository.write("mine.txt", "mine\n");
  repository.commit("Mine");
  expect(repository.exists(".git/called")).toBe(false);
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  await settled(repository);
  watched();
  repository.commit("Greet");
  expect(repository.exists(".git/called")).toBe(true);
});

test("a store that is broken stops no commit", async () => {
  using repository = temporaryRepository();
  await enable(repository);
  await turn(repository);
  for (const key of readdirSync(repository.at(".git/backtrail/worktrees/main/pending"))) {
    repository.write(`.git/backtrail/worktrees/main/pending/${key}`, "{ no json");
    repository.write(`.git/backtrail/sessions/${key}.json`, "{ no json");
  }
  expect(repository.commit("Greet")).toMatch(/^[0-9a-f]{40}$/);
});

test("a push of every ref warns about what it includes; an earlier hook gets the same input as ours", async () => {
  for (const earlier of [true, false]) {
    using repository = temporaryRepository();
    if (earlier) script(repository, ".git/hooks/pre-push", "#!/bin/sh", 'cat >"$(git rev-parse --git-dir)/seen"');
    await enable(repository);
    await turn(repository);
    repository.git("init", "--quiet", "--bare", "../mirror.git");
    const push = (...args: string[]) => {
      const options = { cwd: repository.path, env: repository.environment(), encoding: "utf8" } as const;
      const { status, stderr } = spawnSync("git", ["push", "--quiet", "../mirror.git", ...args], options);
      return { status, isTold: stderr.includes("refs/backtrail"), seen: earlier && repository.read(".git/seen") };
    };
    const head = repository.git("rev-parse", "HEAD");
    const zeros = "0".repeat(40);
    const seen = earlier && `refs/heads/main ${head} refs/heads/main ${zeros}\n`;
    expect(push("main")).toEqual({ status: 0, isTold: false, seen });
    expect(push("main")).toEqual({ status: 0, isTold: false, seen: earlier && "" });
    expect(push("--mirror")).toMatchObject({ status: 0, isTold: true });
  }
});
