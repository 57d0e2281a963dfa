/** What the doctor finds beyond the store: locks, modes, hooks that nobody calls, what waits, the clock; and the bundle. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, settled } from "./commits.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Report {
  ok: boolean;
  findings: { check: string; level: string; message: string }[];
}

async function worked(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("The secret plan", [write("a.txt", "a\n")]);
  // A worker that is still at it would put right what is broken here.
  await settled(repository);
  return repository;
}

/** What is wrong, in words. */
async function foundProblems(repository: TemporaryRepository, ...args: string[]): Promise<string[]> {
  const { stdout } = await repository.run(["doctor", "--json", ...args], { env });
  const { findings } = JSON.parse(stdout) as Report;
  return findings.filter(({ level }) => level !== "ok").map(({ check, message }) => `${check}: ${message}`);
}

test("locks and files of a killed process", async () => {
  using repository = await worked();
  // No process has this id.
  repository.write(".git/backtrail/sessions/0123.lock", "4194303 1\n");
  repository.write(".git/backtrail/queue/x.json.4194303.abc.tmp", "{");
  repository.write(".git/COMMIT_EDITMSG.4194303.abc.tmp", "{");
  expect(await foundProblems(repository, "--check")).toEqual([
    "locks: A killed process left .git/backtrail/sessions/0123.lock, .git/backtrail/queue/x.json.4194303.abc.tmp, .git/COMMIT_EDITMSG.4194303.abc.tmp.",
  ]);
  expect(await foundProblems(repository, "--fix")).toEqual([]);
});

test("findings are also printed as data", async () => {
  using repository = await worked();
  repository.write(".git/backtrail/sessions/0123.lock", "4194303 1\n");
  const { stdout } = await repository.run(["doctor", "--json", "--check"], { env });
  const { findings } = JSON.parse(stdout) as { findings: Record<string, unknown>[] };
  expect(findings.find(({ check }) => check === "locks")).toEqual({
    check: "locks",
    level: "problem",
    kind: "locks-abandoned",
    message: "A killed process left .git/backtrail/sessions/0123.lock.",
    hint: "The next command removes it, or `backtrail doctor --fix`.",
    fixable: true,
    data: { paths: [".git/backtrail/sessions/0123.lock"] },
  });
});

test("a push of checkpoints that failed", async () => {
  using repository = await worked();
  repository.commit("with a conversation");
  await settled(repository);
  expect((await repository.run(["sync", "push", repository.at("nowhere")])).code).not.toBe(0);
  expect(await foundProblems(repository, "--check")).toEqual([
    expect.stringMatching(/^sync: Checkpoints could not be pushed to .*nowhere \(/),
  ]);
});

test("a store that others may read is closed again", async () => {
  using repository = await worked();
  chmodSync(repository.at(".git/backtrail"), 0o755);
  chmodSync(repository.at(".git/backtrail/steps.jsonl"), 0o644);
  expect(await foundProblems(repository, "--check")).toEqual([
    "modes: Others on this machine may read .git/backtrail, .git/backtrail/steps.jsonl.",
  ]);
  expect(await foundProblems(repository, "--fix")).toEqual([]);
  expect(statSync(repository.at(".git/backtrail/steps.jsonl")).mode & 0o777).toBe(0o600);
});

test("a checkpoint that was lost between the commit and its branch is written after all", async () => {
  using repository = await worked();
  const commit = repository.commit("with a conversation");
  await settled(repository);
  const [id = ""] = checkpointsOf(repository, commit);
  repository.checkpoints("update-ref", "-d", "refs/heads/entire/checkpoints/v1");
  expect(await foundProblems(repository, "--check")).toEqual([
    `queue: A commit names a checkpoint that was never written: ${id}.`,
  ]);
  expect(await foundProblems(repository, "--fix")).toEqual([]);
  expect((await repository.run(["explain", id], { env })).stdout).toContain("The secret plan");
});

test("a queue that does not move", async () => {
  using repository = await worked();
  repository.git("commit", "--quiet", "--allow-empty", "-m", "x");
  const queue = repository.at(".git/backtrail/queue");
  mkdirSync(queue, { recursive: true });
  const entry = {
    v: 1,
    checkpoint: "0123456789ab",
    commit: repository.git("rev-parse", "HEAD"),
    branch: null,
    strategy: "x",
    time: "",
    sessions: [],
  };
  writeFileSync(`${queue}/000000000000001-0123456789ab-x.json`, JSON.stringify(entry));
  expect(await foundProblems(repository, "--check")).toEqual([
    "queue: 1 checkpoint waits since 1970-01-01T00:00:00.001Z, and no process writes it.",
  ]);
  expect(await foundProblems(repository, "--fix")).toEqual([]);
  expect(readdirSync(queue)).toEqual([]);
});

test("git's hooks: gone, elsewhere, and beside a manager", async () => {
  using repository = await worked();
  rmSync(repository.at(".git/hooks/post-commit"));
  expect(await foundProblems(repository)).toEqual([
    "git hooks: Another tool replaced or removed Backtrail's hooks in .git/hooks: post-commit.",
  ]);
  expect(await foundProblems(repository, "--fix")).toEqual([]);
  repository.write("lefthook.yml", "");
  writeFileSync(repository.at(".git/hooks/commit-msg"), "#!/bin/sh\n");
  expect(await foundProblems(repository)).toEqual([
    "git hooks: lefthook replaced or removed Backtrail's hooks in .git/hooks: commit-msg.",
  ]);
  mkdirSync(repository.at(".git/others"));
  repository.git("config", "core.hooksPath", ".git/others");
  expect(await foundProblems(repository)).toEqual([
    "git hooks: git now uses the hooks in .git/others (core.hooksPath), which lacks Backtrail's.",
  ]);
  expect(await foundProblems(repository, "--fix")).toEqual([]);
});

test("an agent with all hooks disabled, and one of an unknown version", async () => {
  using repository = await worked();
  mkdirSync(repository.at("../home/.claude"), { recursive: true });
  writeFileSync(repository.at("../home/.claude/settings.json"), '{ "disableAllHooks": true }');
  const claude = repository.write("../bin/claude", "#!/bin/sh\necho '99.0.1 (Claude Code)'\n");
  chmodSync(claude, 0o755);
  const { stdout } = await repository.run(["doctor", "--json"], {
    env: { ...env, PATH: `${repository.at("../bin")}:${process.env["PATH"]}` },
  });
  const said = (JSON.parse(stdout) as Report).findings.filter(({ level }) => level === "warning");
  expect(said.map(({ message }) => message.replace(/\(.*\)/, "(…)"))).toEqual([
    `Claude Code runs no hooks: disableAllHooks is true in ${repository.at("../home/.claude/settings.json")}.`,
    "claude-code 99.0.1 is newer than what Backtrail was tested with (…).",
  ]);
});

test("steps from the future", async () => {
  using repository = await worked();
  const env = { BACKTRAIL_WORKER: "off", BACKTRAIL_CLOCK: "2020-01-01T00:00:00.000Z" };
  const { stdout } = await repository.run(["doctor", "--json"], { env });
  const said = (JSON.parse(stdout) as Report).findings.filter(({ level }) => level === "warning");
  expect(said.map(({ message }) => message.replace(/up to [\dT:.-]+Z/, "up to …"))).toEqual([
    "2 steps are from the future, up to …: the clock was or is wrong.",
  ]);
});

test("the bundle has what helps, and nothing private", async () => {
  using repository = await worked();
  const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
  const entry = { v: 1, time: new Date().toISOString(), level: "error", where: "hook", message: "" };
  const message = `${repository.at("a.txt")}: ${repository.home}/x token=${secret} /home/somebody/y`;
  writeFileSync(repository.at(".git/backtrail/log.jsonl"), `${JSON.stringify({ ...entry, message })}\n`);
  // A fork is called after the prompt that it began with.
  expect((await repository.run(["fork", "1"], { env })).stdout).toContain("secret-plan");
  const file = repository.at("../bundle.json");
  const result = await repository.run(["doctor", "bundle", file], { env });
  expect(result).toMatchObject({ code: 0, stdout: `${file}\n` });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, "utf8");
  for (const word of ["secret plan", "secret-plan", "a.txt", secret, repository.home, repository.path, "somebody"])
    expect(text).not.toContain(word);
  const bundle = JSON.parse(text);
  expect(bundle.log[0].message).toBe("<project>/…: ~/x token=[secret:github-token:1] /<home>/y");
  expect(bundle.store).toMatchObject({
    agents: [{ id: "claude-code", scope: "local" }],
    steps: { "turn-start": 1, "turn-end": 1 },
  });
  expect((await repository.run(["doctor", "bundle", file], { env })).code).toBe(4);
  // Outside of everything it still says which versions these are.
  utimesSync(file, 0, 0);
  const elsewhere = await repository.run(["doctor", "bundle", `${file}.2`], { env, cwd: repository.home });
  expect(elsewhere.code).toBe(0);
});
