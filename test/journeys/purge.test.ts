/** A person removes everything that was recorded, and nothing of it is left; what is theirs stays. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ScriptedClaude, write } from "../support/index.ts";
import { type TemporaryRepository, temporaryFolder, temporaryRepository } from "../support/repository.ts";
import { settled } from "./commits.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Purged {
  plan: { steps: number; sessions: number; refs: number; open: unknown[]; forks: string[]; publicCheckpoints: boolean };
  purged: boolean;
}

/** Every file below a directory. */
function filesIn(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return names.filter((name) => statSync(join(directory, name)).isFile());
}

function objectsIn(repository: TemporaryRepository): string[] {
  return repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split("\n").sort();
}

async function recorded(repository: TemporaryRepository): Promise<ScriptedClaude> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Write a greeting", [write("greeting.txt", "hello\n")]);
  await claude.turn("Be louder", [write("greeting.txt", "HELLO\n"), write("more/deep.txt", "more\n")]);
  return claude;
}

test("purge --disable leaves nothing behind: no file, no ref, no reflog, no object", async () => {
  using repository = temporaryRepository();
  repository.git("config", "core.logAllRefUpdates", "always");
  const before = { files: filesIn(repository.at(".git")), objects: objectsIn(repository) };
  const claude = await recorded(repository);
  const transcript = readFileSync(claude.transcript.path);
  await claude.end();
  expect(objectsIn(repository).length).toBeGreaterThan(before.objects.length);

  const dry = await repository.json<Purged>(["purge", "--disable", "--dry-run"], { env });
  expect(dry).toMatchObject({ plan: { sessions: 1, forks: [] }, purged: false });
  expect(dry.plan.steps).toBeGreaterThan(3);
  expect((await repository.run(["log"], { env })).stdout).toContain("Be louder");
  const unasked = await repository.run(["purge", "--disable"], { env });
  expect([unasked.code, repository.exists(".git/backtrail/steps.jsonl")]).toEqual([2, true]);

  const purged = await repository.run(["purge", "--disable", "--yes"], { env });
  expect(purged.stderr).toBe("");
  expect(purged.code).toBe(0);
  expect(filesIn(repository.at(".git"))).toEqual(before.files);
  expect(objectsIn(repository)).toEqual(before.objects);
  expect(repository.exists(".git/backtrail")).toBe(false);
  expect(repository.exists(".git/refs/backtrail")).toBe(false);
  expect(repository.exists(".git/logs/refs/backtrail")).toBe(false);
  expect(repository.exists(".claude")).toBe(false);
  expect(repository.read("greeting.txt")).toBe("HELLO\n");
  expect(readFileSync(claude.transcript.path)).toEqual(transcript);
  expect((await repository.run(["purge", "--yes"], { env })).code).toBe(3);
});

test("what the user staged, stashed, dropped or committed stays, and checkpoints of commits go", async () => {
  using repository = temporaryRepository();
  const claude = await recorded(repository);
  // Each of these shares its bytes with a step.
  repository.git("add", "greeting.txt");
  repository.git("stash");
  const dropped = repository.git("rev-parse", "stash@{0}");
  repository.git("stash", "apply", "--index");
  repository.git("stash", "drop");
  repository.git("add", "more");
  repository.git("commit", "--quiet", "--message", "more");
  const head = repository.git("rev-parse", "HEAD");
  repository.write("staged.txt", "staged\n");
  await claude.turn("Look at it", []);
  repository.git("add", "staged.txt");
  repository.git("rm", "--cached", "--quiet", "--ignore-unmatch", "nothing");
  await claude.end();

  expect((await repository.run(["purge", "--yes"], { env })).code).toBe(0);
  expect(repository.git("fsck", "--full", "--no-dangling")).toBe("");
  expect(repository.git("show", `${dropped}:greeting.txt`)).toBe("HELLO");
  expect(repository.git("rev-parse", "HEAD")).toBe(head);
  expect(repository.git("show", ":staged.txt")).toBe("staged");
  expect(repository.git("for-each-ref", "refs/backtrail")).toBe("");
  expect(repository.exists(".git/backtrail/private.git")).toBe(false);
});

test("recording continues after a purge, and only new turns are listed", async () => {
  using repository = temporaryRepository();
  const claude = await recorded(repository);
  await claude.end();
  const purged = await repository.run(["purge", "--yes"], { env });
  expect(purged.stdout).toContain("Recording is still on");
  expect((await repository.run(["log"], { env })).stderr).toContain("Nothing is recorded here yet");
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
  const next = new ScriptedClaude(repository);
  await next.start();
  await next.turn("Once more", [write("new.txt", "new\n")]);
  const log = await repository.run(["log"], { env });
  expect(log.stdout).toContain("Once more");
  expect(log.stdout).not.toContain("Be louder");
  expect((await repository.run(["rewind", "1", "--yes"], { env })).code).toBe(0);
  expect(repository.exists("new.txt")).toBe(false);
});

test("an open agent and forks stop a purge; --force allows an open agent", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const refused = await repository.run(["purge", "--yes"], { env });
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("is still open here")]);
  await repository.run(["fork", "1", "--branch", "again"], { env });
  const forked = await repository.run(["purge", "--yes", "--force"], { env });
  expect([forked.code, forked.stderr]).toEqual([4, expect.stringContaining("These forks need steps")]);
  expect((await repository.run(["log"], { env })).stdout).toContain("Be louder");
  await repository.run(["fork", "drop", "again", "--yes"], { env });
  expect((await repository.run(["purge", "--yes", "--force"], { env })).code).toBe(0);
});

test("a shared branch of checkpoints goes only with --checkpoints", async () => {
  using repository = temporaryRepository();
  const claude = await recorded(repository);
  await repository.run(["config", "set", "checkpoints.branch", "public"]);
  repository.commit("Greet");
  await claude.end();
  await settled(repository);
  const branch = () => repository.git("for-each-ref", "refs/heads/entire");
  expect(branch()).not.toBe("");
  expect((await repository.run(["purge", "--dry-run"], { env })).stdout).toContain("--checkpoints removes it");
  await repository.run(["purge", "--yes"], { env });
  expect(branch()).not.toBe("");
  const purged = await repository.run(["purge", "--yes", "--checkpoints"], { env });
  expect([purged.code, purged.stdout]).toEqual([0, expect.stringContaining("git gc --prune=now")]);
  expect(branch()).toBe("");
  expect(existsSync(repository.at(".git/logs/refs/heads/entire"))).toBe(false);
});

test("a folder without git", async () => {
  using folder = temporaryFolder();
  const claude = await recorded(folder);
  await claude.end();
  const folders = join(folder.home, "backtrail/data/folders");
  expect((await folder.run(["purge", "--yes"], { env })).code).toBe(0);
  const [store = ""] = readdirSync(folders);
  const objects = execFileSync("git", ["--git-dir", join(folders, store), "count-objects"], { encoding: "utf8" });
  expect(objects).toStartWith("0 objects");
  const next = new ScriptedClaude(folder);
  await next.start();
  await next.turn("Once more", [write("new.txt", "new\n")]);
  await next.end();
  expect((await folder.run(["log"], { env })).stdout).toContain("Once more");
  expect((await folder.run(["purge", "--yes", "--disable"], { env })).code).toBe(0);
  expect(readdirSync(folders)).toEqual([]);
  expect(folder.read("new.txt")).toBe("new\n");
});

test("killed before anything was removed, nothing is", async () => {
  using repository = temporaryRepository();
  await (await recorded(repository)).end();
  const killed = await repository.run(["purge", "--yes"], { env: { ...env, BACKTRAIL_FAULT: "purge:journal" } });
  expect(killed.signal).toBe("SIGKILL");
  const log = await repository.run(["log"], { env });
  expect(log.stderr).toContain("interrupted before anything was removed");
  expect(log.stdout).toContain("Be louder");
  expect(existsSync(repository.at(".git/backtrail/purging"))).toBe(false);
});

test.each(["purge:aside", "purge:refs", "purge:objects"])(
  "killed at %s, the next command finishes it, and what was recorded since stays",
  async (point) => {
    using repository = temporaryRepository();
    await (await recorded(repository)).end();
    const killed = await repository.run(["purge", "--yes"], { env: { ...env, BACKTRAIL_FAULT: point } });
    expect(killed.signal).toBe("SIGKILL");
    const next = new ScriptedClaude(repository);
    await next.start();
    await next.turn("Meanwhile", [write("new.txt", "new\n")]);
    await next.end();
    const log = await repository.run(["log"], { env });
    expect(log.stderr).toContain("Finished removing what was recorded here.");
    expect(log.stdout).not.toContain("Be louder");
    expect(log.stdout).toContain("Meanwhile");
    expect(existsSync(repository.at(".git/backtrail/purging"))).toBe(false);
    expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
  },
);
