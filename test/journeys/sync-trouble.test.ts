/** Remotes that refuse, hang or are not there: told in words, bounded in time, and never a user's push the worse for it. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { executable, runProgram, ScriptedClaude, type TemporaryRepository, write } from "../support/index.ts";
import { settled } from "./commits.ts";
import { BRANCH, checkpointsIn, pushSettled, Shared, work } from "./synced.ts";

/** A push as the user makes it, with our hooks. */
function userPush(repository: TemporaryRepository, env: Record<string, string> = {}) {
  return runProgram("git", ["push", "origin", "main"], {
    cwd: repository.path,
    env: repository.environment(env),
    timeout: 20_000,
  });
}

async function automatic(shared: Shared): Promise<TemporaryRepository> {
  const repository = await shared.machine();
  expect((await repository.run(["config", "set", "push.enabled", "true"])).code).toBe(0);
  return repository;
}

test("turned on, checkpoints follow the user's push; turned off, the hook starts nothing", async () => {
  using shared = new Shared();
  const ada = await automatic(shared);
  const id = await work(ada, "Add a greeting", "hello.txt");
  expect((await userPush(ada)).code).toBe(0);
  expect(await pushSettled(ada)).toMatchObject({ unpushed: [], error: null, waiting: null });
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([id]);
  expect(shared.git("rev-parse", "main")).toBe(ada.git("rev-parse", "main"));
  await ada.run(["config", "set", "push.enabled", "false"]);
  expect(existsSync(ada.at(".git/backtrail/push"))).toBe(false);
  await work(ada, "More", "more.txt");
  expect((await userPush(ada)).code).toBe(0);
  expect(existsSync(ada.at(".git/backtrail/sync/wish.json"))).toBe(false);
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([id]);
});

test("a checkpoint that is not written yet when the user pushes is pushed too", async () => {
  using shared = new Shared();
  const ada = await automatic(shared);
  await work(ada, "One", "one.txt");
  const env = ada.environment({ BACKTRAIL_WORKER: "off" });
  const claude = new ScriptedClaude(ada);
  await claude.turn("Two", [write("two.txt", "two\n")]);
  await settled(ada);
  ada.git("add", "--all");
  Bun.spawnSync(["git", "commit", "--quiet", "--message", "Two"], { cwd: ada.path, env });
  expect((await userPush(ada)).code).toBe(0);
  expect(await pushSettled(ada)).toMatchObject({ error: null, unpushed: [] });
  expect(checkpointsIn(shared.git.bind(shared)).length).toBe(2);
});

test("a remote that refuses is named in `status`, and does not fail the user's push", async () => {
  using shared = new Shared();
  const ada = await automatic(shared);
  await work(ada, "Add a greeting", "hello.txt");
  shared.hook("update", `case "$1" in *entire*) printf 'no \\033[31mconversations here\\n' >&2; exit 1 ;; esac`);
  expect((await userPush(ada)).code).toBe(0);
  const state = await pushSettled(ada);
  expect(state.error?.message).toContain("no conversations here");
  expect(state).toMatchObject({ pushed: null, waiting: expect.any(String), next: expect.any(String) });
  expect(shared.git("rev-parse", "main")).toBe(ada.git("rev-parse", "main"));
  const told = await ada.run(["status"]);
  expect(told.stdout).toMatch(
    /The last push of checkpoints failed just now; tried again in 1 min: .*no conversations here/,
  );
  expect(told.stdout).not.toContain("\u001b");
  const { push } = await ada.json<{ push: { error: { message: string } } }>(["status"]);
  expect(push.error.message).toContain("no conversations here");
  // Not before its time, but with the user's next push.
  shared.hook("update", "exit 0");
  await ada.run(["worker", ada.path]);
  expect((await pushSettled(ada)).error).not.toBeNull();
  expect((await userPush(ada)).code).toBe(0);
  expect(await pushSettled(ada)).toMatchObject({ error: null, unpushed: [], waiting: null });
});

test("when the pause is over, any worker tries again", async () => {
  using shared = new Shared();
  const ada = await automatic(shared);
  const id = await work(ada, "Add a greeting", "hello.txt");
  await ada.run(["config", "set", "push.remote", shared.at("gone.git")]);
  expect((await userPush(ada)).code).toBe(0);
  expect((await pushSettled(ada)).error?.message).toContain("could not be reached");
  ada.git("init", "--quiet", "--bare", shared.at("gone.git"));
  const later = new Date(Date.now() + 10 * 60_000).toISOString();
  await ada.run(["log"], { env: { BACKTRAIL_CLOCK: later } });
  for (let i = 0; i < 200 && existsSync(ada.at(".git/backtrail/sync/wish.json")); i++) await Bun.sleep(25);
  expect(checkpointsIn((...args) => ada.git("--git-dir", shared.at("gone.git"), ...args))).toEqual([id]);
});

test("a remote that hangs is given up, with all that was started for it, and the user's push has long been done", async () => {
  using shared = new Shared();
  const ada = await automatic(shared);
  await work(ada, "Add a greeting", "hello.txt");
  // An ssh that connects and then says nothing; its own child must not survive it either.
  const ssh = shared.write(
    "ssh",
    `#!/bin/sh\necho $$ >>"${shared.at("pids")}"\nsleep 60 &\necho $! >>"${shared.at("pids")}"\nwait\n`,
  );
  Bun.spawnSync(["chmod", "755", ssh]);
  ada.git("remote", "add", "slow", "ssh://localhost/x.git");
  await ada.run(["config", "set", "push.remote", "slow"]);
  await ada.run(["config", "set", "push.timeout", "1"]);
  expect((await userPush(ada, { GIT_SSH_COMMAND: ssh })).code).toBe(0);
  expect(shared.git("rev-parse", "main")).toBe(ada.git("rev-parse", "main"));
  const state = await pushSettled(ada);
  expect(state.error?.message).toBe("slow could not be reached: It did not answer within 1 seconds.");
  const pids = (await Bun.file(shared.at("pids")).text()).trim().split("\n").map(Number);
  expect(pids.length).toBe(2);
  for (const pid of pids) expect(await ends(pid)).toBe(true);
  const asked = await ada.run(["sync", "fetch", "slow"], { env: { GIT_SSH_COMMAND: ssh } });
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("did not answer within 1 seconds") });
});

test("a remote that asks for a password gets none, and the user is not asked", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Add a greeting", "hello.txt");
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("who are you?", { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } }),
  });
  const asker = shared.write("asker", `#!/bin/sh\ntouch "${shared.at("asked")}"\necho secret\n`);
  Bun.spawnSync(["chmod", "755", asker]);
  try {
    const env = { GIT_ASKPASS: asker, SSH_ASKPASS: asker, GIT_TERMINAL_PROMPT: "1" };
    const result = await ada.run(["sync", "push", `http://127.0.0.1:${server.port}/x.git`], { env });
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("Backtrail can't ask for a password") });
    expect(existsSync(shared.at("asked"))).toBe(false);
  } finally {
    await server.stop(true);
  }
});

test("ssh runs in batch mode, without a terminal; the user's own ssh command is left as it is", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Add a greeting", "hello.txt");
  const script = (name: string) =>
    `#!/bin/sh\necho "${name} $*" >>"${shared.at("calls")}"\n: 2>/dev/null </dev/tty && echo terminal >>"${shared.at("calls")}"\nexit 255\n`;
  for (const name of ["ssh", "own"]) Bun.spawnSync(["chmod", "755", shared.write(`bin/${name}`, script(name))]);
  const PATH = `${shared.at("bin")}:${process.env["PATH"]}`;
  const push = (env: Record<string, string>) =>
    ada.run(["sync", "push", "ssh://localhost/x.git"], { env: { PATH, ...env } });
  expect((await push({})).code).toBe(1);
  expect((await push({ GIT_SSH_COMMAND: shared.at("bin/own") })).code).toBe(1);
  const calls = (await Bun.file(shared.at("calls")).text()).split("\n").filter((line) => !line.includes(" -G "));
  expect(calls[0]).toMatch(/^ssh -o BatchMode=yes -o ConnectTimeout=15 /);
  expect(calls.find((line) => line.startsWith("own"))).not.toContain("BatchMode");
  expect(calls).not.toContain("terminal");
});

test("an existing pre-push hook runs first, once, and its word counts; our own push runs none", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  const count = ada.at("..", "count");
  // As husky has it: a directory that git ignores, with a hook that reads what is pushed.
  ada.write(".gitignore", ".husky/_\n");
  ada.write(".husky/_/pre-push", `#!/bin/sh\ncat >>"${count}"\n[ ! -e "${count}.no" ] || exit 7\n`);
  Bun.spawnSync(["chmod", "755", ada.at(".husky/_/pre-push")]);
  ada.git("config", "core.hooksPath", ".husky/_");
  await ada.run(["enable", "--agent", "claude-code"]);
  await ada.run(["config", "set", "push.enabled", "true"]);
  const id = await work(ada, "Add a greeting", "hello.txt");
  expect((await userPush(ada)).code).toBe(0);
  expect(await pushSettled(ada)).toMatchObject({ error: null, unpushed: [] });
  expect(checkpointsIn(shared.git.bind(shared))).toEqual([id]);
  const seen = await Bun.file(count).text();
  expect(seen.trim().split("\n").length).toBe(1);
  expect(seen).toContain("refs/heads/main");
  await Bun.write(`${count}.no`, "");
  await work(ada, "More", "more.txt");
  expect((await userPush(ada)).code).not.toBe(0);
  expect(existsSync(ada.at(".git/backtrail/sync/wish.json"))).toBe(false);
});

test("hooks of the repository do not run for our own push", async () => {
  using shared = new Shared();
  const ada = await automatic(shared);
  await work(ada, "Add a greeting", "hello.txt");
  for (const hook of ["pre-push", "reference-transaction"]) {
    const file = ada.at(".git/hooks", hook);
    await Bun.write(file, `#!/bin/sh\necho ${hook} >>"${shared.at("ran")}"\nexit 1\n`);
    Bun.spawnSync(["chmod", "755", file]);
  }
  expect((await ada.run(["sync", "push", "origin"])).code).toBe(0);
  expect(existsSync(shared.at("ran"))).toBe(false);
  expect(shared.git("rev-parse", BRANCH)).toBe(ada.checkpoints("rev-parse", BRANCH));
});

test("Ctrl-C ends a push that hangs", async () => {
  using shared = new Shared();
  const ada = await shared.machine();
  await work(ada, "Add a greeting", "hello.txt");
  const ssh = shared.write("ssh", `#!/bin/sh\necho $$ >"${shared.at("pid")}"\nexec sleep 60\n`);
  Bun.spawnSync(["chmod", "755", ssh]);
  const child = Bun.spawn([executable(), "sync", "push", "ssh://localhost/x.git"], {
    cwd: ada.path,
    env: ada.environment({ GIT_SSH_COMMAND: ssh }),
    stderr: "pipe",
  });
  for (let i = 0; i < 400 && !existsSync(shared.at("pid")); i++) await Bun.sleep(25);
  await Bun.sleep(50);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect(await ends(Number(await Bun.file(shared.at("pid")).text()))).toBe(true);
  expect(ada.exists(".git/backtrail/sync/lock")).toBe(false);
});

/** Killed together with its parent, it may take a moment longer; by itself it would go on for a minute. */
async function ends(pid: number): Promise<boolean> {
  for (let i = 0; i < 200 && !isGone(pid); i++) await Bun.sleep(25);
  return isGone(pid);
}

/** A process that has ended; in a container nobody may ever ask how. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  const { stdout } = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]);
  return /^Z|^$/.test(stdout.toString().trim());
}
