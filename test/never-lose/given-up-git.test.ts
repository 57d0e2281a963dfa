/** A git that is given up ends with everything that it started: hanging filters, and what those have started. */
import { afterEach, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRunning } from "../../src/base/process/processes.ts";
import { tryGit } from "../../src/git/run.ts";
import { executable, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

const left: number[] = [];

afterEach(() => {
  for (const pid of left.splice(0)) if (isRunning(pid)) process.kill(pid, "SIGKILL");
});

/** `slow.txt` goes through a clean filter that hangs: a shell, and a child of it in the background. */
function withHangingFilter(repository: TemporaryRepository): string {
  const pids = join(repository.home, "pids");
  const filter = join(repository.home, "filter.sh");
  writeFileSync(filter, `#!/bin/sh\nsleep 97 &\necho "$$ $!" > ${pids}.tmp && mv ${pids}.tmp ${pids}\nwait\ncat\n`);
  chmodSync(filter, 0o755);
  repository.write(".gitattributes", "slow.txt filter=slow\n");
  repository.write("slow.txt", "one\n");
  repository.commit("slow");
  repository.git("config", "filter.slow.clean", filter);
  repository.write("slow.txt", "two\n");
  return pids;
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !isTrue(); i++) await Bun.sleep(10);
  expect(isTrue()).toBe(true);
}

async function started(pids: string): Promise<number[]> {
  await until(() => existsSync(pids));
  const found = readFileSync(pids, "utf8").trim().split(" ").map(Number);
  left.push(...found);
  expect(found.map((pid) => isRunning(pid))).toEqual([true, true]);
  return found;
}

async function allEnded(processes: readonly number[]): Promise<void> {
  await until(() => processes.every((pid) => !isRunning(pid)));
}

test("git that takes too long ends with its filters", async () => {
  using repository = temporaryRepository();
  const pids = withHangingFilter(repository);
  const status = tryGit(["status", "--porcelain"], { cwd: repository.path, timeoutMs: 1_500 });
  const processes = await started(pids);
  expect((await status).timedOut).toBe(true);
  await allEnded(processes);
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(`a hook that gets ${signal} ends what it started`, async () => {
    using repository = temporaryRepository();
    expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
    const pids = withHangingFilter(repository);
    const hook = spawn(executable(), ["hooks", "claude-code", "user-prompt-submit"], {
      cwd: repository.path,
      env: repository.environment(),
      stdio: ["pipe", "ignore", "ignore"],
    });
    hook.stdin.end(JSON.stringify({ session_id: "s1", cwd: repository.path, prompt: "x" }));
    const ended = new Promise((resolve) => hook.once("exit", (_, by) => resolve(by)));
    const processes = await started(pids);
    hook.kill(signal);
    expect(await ended).toBe(signal);
    await allEnded(processes);
  });
}

test("a command that is interrupted ends what it started", async () => {
  using repository = temporaryRepository();
  expect((await repository.run(["enable", "--agent", "claude-code"])).code).toBe(0);
  const pids = withHangingFilter(repository);
  const save = spawn(executable(), ["save", "here"], {
    cwd: repository.path,
    env: repository.environment(),
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => save.once("exit", (_, by) => resolve(by)));
  const processes = await started(pids);
  save.kill("SIGINT");
  expect(await ended).toBe("SIGINT");
  await allEnded(processes);
  expect(existsSync(repository.at(".git/index.lock"))).toBe(false);
});

test("git is never a program of the repository on a relative entry of PATH", async () => {
  using repository = temporaryRepository();
  const mark = join(repository.home, "ran");
  const evil = repository.write("bin/git", `#!/bin/sh\ntouch ${mark}\n`);
  chmodSync(evil, 0o755);
  const env = { PATH: `bin:.:${process.env["PATH"]}:${dirname("bin/git")}` };
  expect((await repository.run(["enable", "--agent", "claude-code"], { env })).code).toBe(0);
  expect((await repository.run(["save", "here"], { env })).code).toBe(0);
  expect(existsSync(mark)).toBe(false);
});
