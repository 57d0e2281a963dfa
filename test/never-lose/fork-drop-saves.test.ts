/** What is in a fork is saved before it goes, also where git does not show it; what can't be saved is asked about. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readlinkSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { Directory } from "../support/files/directory.ts";
import { executable, runProgram, type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { permissionsCount } from "../support/recording.ts";

const LOCAL = ["-c", "protocol.file.allow=always"];

interface Dropped {
  dropped: {
    step: string | null;
    reflog: string | null;
    staged: string | null;
    refs: string[];
    kept: { path: string; directory: string }[];
  };
}

/** A fork of the present, with git and files in it at hand. */
class Fork extends Directory {
  readonly repository: TemporaryRepository;

  private constructor(repository: TemporaryRepository) {
    super(`${repository.path}.forks/again`);
    this.repository = repository;
  }

  static async of(repository: TemporaryRepository): Promise<Fork> {
    await repository.run(["enable", "--agent", "claude-code"]);
    await repository.run(["save", "start"]);
    expect(await repository.run(["fork", "start", "--branch", "again"])).toMatchObject({ code: 0 });
    return new Fork(repository);
  }

  git(...args: string[]): string {
    return this.repository.git("-C", this.path, ...args);
  }

  plan() {
    return this.repository.run(["fork", "drop", "again", "--dry-run"]);
  }

  drop(...more: string[]) {
    return this.repository.run(["fork", "drop", "again", ...more]);
  }

  async dropped(...more: string[]): Promise<Dropped["dropped"]> {
    const { dropped } = await this.repository.json<Dropped>(["fork", "drop", "again", ...more]);
    expect(existsSync(this.path)).toBe(false);
    this.repository.git("gc", "--quiet", "--prune=now");
    return dropped;
  }

  /** A file of the fork's last state, as `rewind` brings it back. */
  async saved(name: string): Promise<string> {
    expect((await this.repository.run(["rewind", "fork again", "--yes"])).code).toBe(0);
    return this.repository.read(name);
  }
}

function withSubmodule(): { repository: TemporaryRepository; library: TemporaryRepository } & Disposable {
  const [repository, library] = [temporaryRepository(), temporaryRepository()];
  repository.git(...LOCAL, "submodule", "--quiet", "add", library.path, "lib/core");
  repository.commit("library");
  const dispose = () => {
    repository.remove();
    library.remove();
  };
  return { repository, library, [Symbol.dispose]: dispose };
}

test("a submodule with its own commits is asked about, and kept whole as a repository", async () => {
  using made = withSubmodule();
  const fork = await Fork.of(made.repository);
  fork.git(...LOCAL, "submodule", "--quiet", "update", "--init");
  const core = join(fork.path, "lib/core");
  fork.write("lib/core/work.txt", "hours of work\n");
  fork.git("-C", core, "add", "--all");
  fork.git("-C", core, "commit", "--quiet", "--message", "Hours of work");
  const commit = fork.git("-C", core, "rev-parse", "HEAD");
  fork.write("lib/core/draft.txt", "draft\n");
  expect((await fork.plan()).stdout).toContain(`lib/core goes to ${fork.path}.kept/lib/core`);
  const refused = await fork.drop();
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("Give --yes");
  expect(fork.read("lib/core/draft.txt")).toBe("draft\n");
  const { kept } = await fork.dropped("--yes");
  expect(kept).toEqual([{ path: "lib/core", directory: `${fork.path}.kept/lib/core` }]);
  const [place] = kept;
  expect(made.repository.git("-C", place?.directory ?? "", "rev-parse", "HEAD")).toBe(commit);
  expect(made.repository.git("-C", place?.directory ?? "", "status", "--porcelain")).toBe("?? draft.txt");
});

test("a submodule inside a submodule stays a separate repository", async () => {
  using inner = temporaryRepository();
  using made = withSubmodule();
  made.library.git(...LOCAL, "submodule", "--quiet", "add", inner.path, "deep");
  made.library.commit("deep");
  made.repository.git("-C", "lib/core", "pull", "--quiet");
  made.repository.commit("newer library");
  const fork = await Fork.of(made.repository);
  fork.git(...LOCAL, "submodule", "--quiet", "update", "--init", "--recursive");
  const deep = join(fork.path, "lib/core/deep");
  fork.git("-C", deep, "commit", "--quiet", "--allow-empty", "--message", "Deep work");
  const [place] = (await fork.dropped("--yes")).kept;
  expect(made.repository.git("-C", join(place?.directory ?? "", "deep"), "log", "-1", "--format=%s")).toBe("Deep work");
  expect(made.repository.git("-C", place?.directory ?? "", "log", "-1", "--format=%s")).toBe("deep");
});

test("a submodule with nothing but what its remote has goes without a question", async () => {
  using made = withSubmodule();
  const fork = await Fork.of(made.repository);
  fork.git(...LOCAL, "submodule", "--quiet", "update", "--init");
  expect((await fork.dropped()).kept).toEqual([]);
  expect(existsSync(`${fork.path}.kept`)).toBe(false);
});

test("the repository of a submodule that is no longer checked out is kept, too", async () => {
  using made = withSubmodule();
  const fork = await Fork.of(made.repository);
  fork.git(...LOCAL, "submodule", "--quiet", "update", "--init");
  fork.git("-C", "lib/core", "commit", "--quiet", "--allow-empty", "--message", "Mine");
  fork.git("submodule", "--quiet", "deinit", "--force", "lib/core");
  expect((await fork.drop()).code).toBe(4);
  const [place] = (await fork.dropped("--yes")).kept;
  expect(made.repository.git("--git-dir", place?.directory ?? "", "log", "-1", "--format=%s")).toBe("Mine");
});

test("a repository created in the fork is kept whole", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  const own = join(fork.path, "own");
  repository.git("init", "--quiet", own);
  repository.git("-C", own, "commit", "--quiet", "--allow-empty", "--message", "Mine");
  fork.write("own/draft.txt", "draft\n");
  expect((await fork.drop()).code).toBe(4);
  const [place] = (await fork.dropped("--yes")).kept;
  expect(repository.git("-C", place?.directory ?? "", "log", "-1", "--format=%s")).toBe("Mine");
  expect(new Directory(place?.directory ?? "").read("draft.txt")).toBe("draft\n");
});

test("no program that the settings of such a repository name is started", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  const own = join(fork.path, "own");
  const ran = join(repository.home, "ran");
  repository.git("init", "--quiet", own);
  repository.git("-C", own, "commit", "--quiet", "--allow-empty", "--message", "Mine");
  const program = repository.atHome.write("program.sh", `#!/bin/sh\ntouch ${ran}\n`);
  chmodSync(program, 0o755);
  for (const [name, value] of [
    ["core.fsmonitor", program],
    ["filter.x.clean", program],
    ["filter.x.smudge", program],
    ["remote.origin.url", repository.path],
    ["remote.origin.promisor", "true"],
    ["remote.origin.uploadpack", program],
    ["extensions.partialClone", "origin"],
    ["core.repositoryFormatVersion", "1"],
  ] as const)
    repository.git("config", "--file", join(own, ".git/config"), name, value);
  fork.write("own/.gitattributes", "* filter=x\n");
  fork.write("own/a.txt", "a\n");
  // A branch whose commit is missing: git would fetch it.
  fork.write("own/.git/refs/heads/missing", `${"1".repeat(40)}\n`);
  expect((await fork.drop()).code).toBe(4);
  const [place] = (await fork.dropped("--yes")).kept;
  expect(new Directory(place?.directory ?? "").read("a.txt")).toBe("a\n");
  expect(existsSync(ran)).toBe(false);
});

for (const flag of ["--skip-worktree", "--assume-unchanged"]) {
  test(`a file that git is told not to look at (${flag}) is in the step, and named`, async () => {
    using repository = temporaryRepository();
    const fork = await Fork.of(repository);
    fork.git("update-index", flag, "README.md");
    fork.write("README.md", "my local settings\n");
    expect((await fork.plan()).stdout).toContain("README.md, which git does not show");
    await fork.dropped();
    expect(await fork.saved("README.md")).toBe("my local settings\n");
  });
}

test("a skip-worktree link is in the step as a link", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  fork.git("update-index", "--assume-unchanged", "README.md");
  rmSync(fork.at("README.md"));
  fork.link("README.md", "elsewhere");
  await fork.dropped();
  expect((await repository.run(["rewind", "fork again", "--yes"])).code).toBe(0);
  expect(readlinkSync(repository.at("README.md"))).toBe("elsewhere");
});

test("a change that keeps size and times is in the step", async () => {
  using repository = temporaryRepository();
  repository.git("config", "core.trustctime", "false");
  repository.git("config", "core.checkStat", "minimal");
  const fork = await Fork.of(repository);
  const path = fork.at("README.md");
  // Old enough that git trusts the times.
  utimesSync(path, 1_000_000_000, 1_000_000_000);
  fork.git("status");
  fork.git("update-index", "--refresh");
  fork.write("README.md", "# eXAMPLE\n");
  utimesSync(path, 1_000_000_000, 1_000_000_000);
  expect(fork.git("status", "--porcelain")).toBe("");
  expect(statSync(path).size).toBe(10);
  await fork.dropped();
  expect(await fork.saved("README.md")).toBe("# eXAMPLE\n");
});

test("line endings that git takes for unchanged come back byte for byte", async () => {
  using repository = temporaryRepository();
  repository.write(".gitattributes", "* text=auto eol=lf\n");
  repository.write("lines.txt", "one\ntwo\n");
  repository.commit("lines");
  const fork = await Fork.of(repository);
  fork.write("lines.txt", "one\r\ntwo\n");
  await fork.dropped();
  expect(await fork.saved("lines.txt")).toBe("one\r\ntwo\n");
});

test("files that git writes otherwise than it stores them are no change", async () => {
  using repository = temporaryRepository();
  repository.write(".gitattributes", "*.txt text eol=crlf\n");
  repository.write("lines.txt", "one\ntwo\n");
  repository.commit("lines");
  rmSync(repository.at("lines.txt"));
  repository.git("checkout", "--quiet", "lines.txt");
  const fork = await Fork.of(repository);
  expect(fork.read("lines.txt")).toBe("one\r\ntwo\r\n");
  expect((await fork.dropped()).step).toBeNull();
});

test("commits that only a reflog has, and refs of the worktree alone, outlive it", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  const commits: string[] = [];
  const commit = (message: string) => {
    fork.git("commit", "--quiet", "--allow-empty", "--message", message);
    commits.push(fork.git("rev-parse", "HEAD"));
  };
  commit("Reset");
  fork.git("update-ref", "refs/worktree/mine", "HEAD");
  fork.git("reset", "--quiet", "--hard", "HEAD~1");
  commit("Amended");
  fork.git("commit", "--quiet", "--amend", "--allow-empty", "--message", "Amended since");
  fork.git("checkout", "--quiet", "--detach");
  commit("On no branch, and left");
  fork.git("checkout", "--quiet", "again");
  const { reflog, refs } = await fork.dropped();
  for (const id of commits) expect(repository.git("cat-file", "-t", id)).toBe("commit");
  expect(repository.git("log", "--format=%s", reflog ?? "")).toContain("On no branch, and left");
  expect(refs).toHaveLength(1);
  expect(repository.git("log", "-1", "--format=%s", refs[0] ?? "")).toBe("Reset");
});

test("what a rebase has put aside outlives the fork", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  fork.write("a.txt", "mine\n");
  fork.git("add", "a.txt");
  fork.git("commit", "--quiet", "--message", "Mine");
  fork.git("branch", "theirs", "HEAD~1");
  fork.git("checkout", "--quiet", "theirs");
  fork.write("a.txt", "theirs\n");
  fork.git("add", "a.txt");
  fork.git("commit", "--quiet", "--message", "Theirs");
  fork.git("checkout", "--quiet", "again");
  fork.write("README.md", "put aside\n");
  expect(() => fork.git("rebase", "--autostash", "theirs")).toThrow();
  const aside = fork.git(
    "rev-parse",
    new Directory(fork.git("rev-parse", "--absolute-git-dir")).read("rebase-merge/autostash").trim(),
  );
  expect((await fork.drop()).code).toBe(4);
  await fork.dropped("--yes");
  expect(repository.git("show", `${aside}:README.md`)).toBe("put aside");
});

test("a branch that another work tree is on stays", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  fork.git("checkout", "--quiet", "--detach");
  repository.git("checkout", "--quiet", "again");
  await fork.dropped();
  expect(repository.git("branch", "--show-current")).toBe("again");
  expect(repository.git("log", "-1", "--format=%s")).toBe("first");
});

test("a fork whose index is missing is saved like any other", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  fork.write("new.txt", "new\n");
  rmSync(repository.at(".git/worktrees/again/index"));
  expect((await fork.dropped()).step).not.toBeNull();
  expect(await fork.saved("new.txt")).toBe("new\n");
});

test("what was staged in a fork whose directory is gone is kept", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  fork.write("staged.txt", "staged\n");
  fork.git("add", "staged.txt");
  rmSync(fork.path, { recursive: true });
  const { staged } = await fork.dropped();
  expect(repository.git("show", `${staged}:0/staged.txt`)).toBe("staged");
  expect(repository.git("fsck", "--no-dangling", "--strict")).toBe("");
});

test("untracked files that are not to be captured are asked about", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  await repository.run(["config", "set", "capture.exclude", "*.bin", "--user"]);
  fork.write("data.bin", "data\n");
  const refused = await fork.drop();
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("data.bin: no step holds it");
  expect(fork.exists("data.bin")).toBe(true);
});

test("named pipes do not stop the drop", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  await runProgram("mkfifo", ["pipe"], { cwd: fork.path, env: repository.environment() });
  await fork.dropped("--yes");
});

test.skipIf(!permissionsCount)("a directory that can't be read is not removed", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  const closed = fork.at("closed");
  fork.write("closed/mine.txt", "mine\n");
  chmodSync(closed, 0o000);
  const without = "-dac_override,-dac_read_search";
  const wrap = process.getuid?.() === 0 ? ["setpriv", `--bounding-set=${without}`, `--inh-caps=${without}`, "--"] : [];
  const command = [...wrap, executable(), "fork", "drop", "again", "--yes"];
  const options = { cwd: repository.path, env: repository.environment() };
  const refused = await runProgram(command[0] ?? "", command.slice(1), options);
  chmodSync(closed, 0o755);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("closed: it can't be read");
  expect(fork.read("closed/mine.txt")).toBe("mine\n");
});

test.skipIf(process.platform !== "linux")("a process that works in the fork is asked about", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  const shell = spawn("sleep", ["60"], { cwd: fork.path });
  const ended = new Promise((resolve) => shell.once("exit", resolve));
  try {
    const refused = await fork.drop();
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(`Process ${shell.pid}: it is running there`);
    expect(existsSync(fork.path)).toBe(true);
  } finally {
    shell.kill();
    await ended;
  }
  await fork.dropped();
});

test("a session that is still open in the fork is asked about", async () => {
  using repository = temporaryRepository();
  const fork = await Fork.of(repository);
  const payload = { session_id: "8d2f0b8a-0000-4000-8000-000000000001", cwd: fork.path, source: "startup" };
  const env = { BACKTRAIL_WORKER: "off", CLAUDE_PROJECT_DIR: fork.path };
  const hook = (verb: string, event: string) =>
    repository.hook("claude-code", verb, { ...payload, hook_event_name: event }, { cwd: fork.path, env });
  await hook("session-start", "SessionStart");
  const refused = await fork.drop();
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("the agent is still open there");
  await hook("session-end", "SessionEnd");
  await fork.dropped();
});
