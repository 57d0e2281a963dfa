/** What was said is the user's alone: not in git's object store, not in a clone, and gone for good when it is forgotten. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace } from "../../src/git/workspace.ts";
import { checkpointsOf, settled } from "../journeys/commits.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { objectsOf, wordsBelow } from "../support/leftovers.ts";
import { toOldLayout } from "../support/old-layout.ts";

const env = { BACKTRAIL_WORKER: "off" };
const WORDS = ["SECRET-PROMPT", "SECRET-ANSWER"];

/** A session that talks of secrets, with a commit. */
async function told(worker = true): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude } & Disposable> {
  const repository = temporaryRepository();
  const environment = repository.environment.bind(repository);
  if (!worker) repository.environment = (extra) => environment({ ...env, ...extra });
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("the SECRET-PROMPT", [write("new.txt", "x\n")], "the SECRET-ANSWER");
  return { repository, claude, [Symbol.dispose]: () => repository.remove() };
}

async function age(repository: TemporaryRepository): Promise<void> {
  const workspace = findWorkspace(repository.path);
  if (!workspace) throw new Error("There is no workspace.");
  await toOldLayout(workspace);
}

interface Told {
  left: { inObjectStore: string[]; shared: boolean; commands: string[] };
}

async function forgetIt(repository: TemporaryRepository, claude: ScriptedClaude, ...more: string[]): Promise<Told> {
  const told = await repository.json<Told>(["forget", claude.session, "--yes", ...more], { env });
  for (const command of told.left.commands.map((one) => one.replace("<remote>", "origin")))
    execFileSync("/bin/sh", ["-c", command], { cwd: repository.path, env: repository.environment(), stdio: "pipe" });
  return told;
}

test("no object, clone, bundle or mirror of the repository has a word of it", async () => {
  using place = await told();
  const { repository } = place;
  expect(objectsOf(repository.at(".git")).includes("x\n")).toBe(true);
  const copies = join(repository.home, "copies");
  repository.git("clone", "--quiet", repository.path, join(copies, "clone"));
  repository.git("clone", "--quiet", "--mirror", `file://${repository.path}`, join(copies, "mirror.git"));
  repository.git("bundle", "create", "--quiet", join(copies, "all.bundle"), "--all");
  repository.git("clone", "--quiet", "--mirror", join(copies, "all.bundle"), join(copies, "unbundled.git"));
  repository.git("init", "--quiet", "--bare", join(copies, "pushed.git"));
  repository.git("push", "--quiet", "--mirror", join(copies, "pushed.git"));
  expect(objectsOf(repository.at(".git")).toString("latin1")).not.toMatch(/SECRET-(PROMPT|ANSWER)/);
  expect(wordsBelow(copies, WORDS)).toEqual([]);
  const { findings } = await repository.json<{ findings: { check: string; message: string }[] }>(["doctor"], { env });
  expect(findings.find(({ check }) => check === "modes")?.message).toContain("only you can read");
});

test("every file that has a word of it is the user's alone", async () => {
  using place = await told();
  const { repository } = place;
  const open: string[] = [];
  const look = (path: string) => {
    const stat = lstatSync(path);
    if (stat.mode & 0o077) open.push(path);
    else if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  look(repository.at(".git/backtrail/conversations"));
  look(repository.at(".git/backtrail/steps.jsonl"));
  expect(open).toEqual([]);
  expect(wordsBelow(repository.at(".git/backtrail"), WORDS)).toEqual(WORDS);
});

test("after forget, and the commands that it names, nothing is left, also in history and reflogs of checkpoints", async () => {
  using place = await told();
  const { repository, claude } = place;
  await repository.run(["config", "set", "checkpoints.branch", "public"]);
  repository.commit("c");
  await settled(repository);
  const [checkpoint = ""] = checkpointsOf(repository, "HEAD");
  // A reflog of the branch, as git itself writes one.
  const branch = "refs/heads/entire/checkpoints/v1";
  const moved = repository.git("commit-tree", "-p", branch, "-m", "moved", `${branch}^{tree}`);
  repository.git("update-ref", "--create-reflog", branch, moved);
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual(WORDS);
  const { left } = await forgetIt(repository, claude);
  expect(left).toEqual({ inObjectStore: ["code", "checkpoints"], shared: false, commands: ["git gc --prune=now"] });
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual([]);
  expect(wordsBelow(join(repository.home, "backtrail"), WORDS)).toEqual([]);
  const subjects = repository.git("log", "--format=%s", branch).split("\n");
  expect([...new Set(subjects)]).toEqual(["moved", `Checkpoint: ${checkpoint}`]);
  expect((await repository.run(["explain", checkpoint], { env })).code).toBe(0);
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
  repository.git("fsck", "--strict", "--no-dangling");
});

test("after forget, unshared checkpoints no longer have the conversation", async () => {
  using place = await told();
  const { repository, claude } = place;
  repository.commit("c");
  await settled(repository);
  const [checkpoint = ""] = checkpointsOf(repository, "HEAD");
  const { left } = await repository.json<Told>(["forget", claude.session, "--yes"], { env });
  expect(left).toEqual({ inObjectStore: ["code"], shared: false, commands: ["git gc --prune=now"] });
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual([]);
  expect((await repository.run(["explain", checkpoint], { env })).code).toBe(0);
  repository.checkpoints("fsck", "--strict", "--no-dangling");
});

test("where other repositories have the checkpoints, the commands that it names reach these too", async () => {
  using place = await told();
  const { repository, claude } = place;
  const remote = join(repository.home, "remote.git");
  repository.git("init", "--quiet", "--bare", remote);
  repository.git("remote", "add", "origin", remote);
  repository.commit("c");
  await settled(repository);
  await repository.json(["sync", "push", "origin"], { env });
  repository.git("fetch", "--quiet", "origin");
  const { left } = await forgetIt(repository, claude);
  expect(left).toMatchObject({ inObjectStore: ["code", "checkpoints"], shared: true });
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual([]);
  execFileSync("git", ["--git-dir", remote, "gc", "--quiet", "--prune=now"]);
  expect(wordsBelow(remote, WORDS)).toEqual([]);
  expect((await repository.run(["sync", "push", "origin"], { env })).code).toBe(0);
});

test("forgetting the conversation alone leaves the code, and not a word", async () => {
  using place = await told();
  const { repository, claude } = place;
  const { left } = await forgetIt(repository, claude, "--conversation-only");
  expect(left).toEqual({ inObjectStore: [], shared: false, commands: [] });
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual([]);
  rmSync(repository.at("new.txt"));
  const { steps } = await repository.json<{ steps: { id: string; kind: string }[] }>(["log"], { env });
  await repository.json(["rewind", steps[0]?.id ?? "", "--code-only", "--yes"], { env });
  expect(repository.read("new.txt")).toBe("x\n");
});

test("a store of an earlier version: doctor says what git still has, and forget names what removes it", async () => {
  using place = await told(false);
  const { repository, claude } = place;
  await age(repository);
  const examine = async (...args: string[]) => {
    const { findings } = JSON.parse((await repository.run(["doctor", "--json", ...args], { env })).stdout);
    return (findings as { check: string; level: string; message: string }[])
      .filter(({ check }) => check === "modes")
      .map(({ level, message }) => `${level}: ${message}`);
  };
  expect(await examine()).toEqual([
    "warning: Conversations that an earlier version recorded are still in git's object store.",
  ]);
  const [fixed = ""] = await examine("--fix");
  expect(fixed).toStartWith("warning: git's object store still has conversations that were kept there before (");
  expect((await repository.run(["show"], { env })).stdout).toContain("SECRET-PROMPT");
  const { left } = await forgetIt(repository, claude, "--conversation-only");
  expect(left).toEqual({ inObjectStore: ["conversation"], shared: false, commands: ["git gc --prune=now"] });
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual([]);
  expect(await examine()).toEqual(["ok: only you can read the store"]);
});

test("a store of an earlier version that is forgotten at once", async () => {
  using place = await told(false);
  const { repository, claude } = place;
  await age(repository);
  const { left } = await forgetIt(repository, claude);
  expect(left.inObjectStore).toEqual(["code", "conversation"]);
  expect(wordsBelow(repository.at(".git"), WORDS)).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0 || Bun.which("setpriv") === null)(
  "another user of the machine reads no word of it",
  async () => {
    using place = await told();
    const { repository } = place;
    for (const path of [repository.home, join(repository.home, ".."), repository.path]) chmodSync(path, 0o755);
    const look =
      "git cat-file --batch-all-objects --batch --unordered; grep -ra . .git; find .git -name '*.z' | xargs cat";
    const seen = Bun.spawnSync(
      ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", look],
      {
        cwd: repository.path,
        env: repository.environment({
          GIT_CONFIG_COUNT: "1",
          GIT_CONFIG_KEY_0: "safe.directory",
          GIT_CONFIG_VALUE_0: "*",
        }),
      },
    );
    expect(seen.stdout.includes("tree ")).toBe(true);
    for (const word of WORDS) expect(seen.stdout.includes(word)).toBe(false);
  },
);
