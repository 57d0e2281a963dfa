/** What journeys about commits ask of a repository. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isHeld } from "../../src/base/fs/lock.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";

/** The checkpoints that a commit names. */
export function checkpointsOf(repository: TemporaryRepository, commit: string): string[] {
  const message = repository.git("log", "-1", "--format=%B", commit);
  return [...message.matchAll(/^Entire-Checkpoint: ([0-9a-f]{12})$/gm)].map((match) => match[1] ?? "");
}

/** Everything that commits left to the background is done: by a worker of our own if none is at it. */
export async function settled(repository: TemporaryRepository): Promise<void> {
  const lock = repository.at(".git/backtrail/worktrees/main/worker.lock");
  for (let attempt = 0; attempt < 100; attempt++) {
    // One that is at work may have gone past what is to be done: it is waited for, and one of ours runs after it.
    const busy = isHeld(lock);
    if (!busy) await repository.run(["worker", repository.path]);
    // One that began while ours was starting has sent ours away.
    if (!busy && !isHeld(lock) && waiting(repository).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Checkpoints were not written: ${waiting(repository).join(", ")}.`);
}

/** A file on the checkpoints' branch. */
export function show(repository: TemporaryRepository, path: string): string {
  return repository.checkpoints("cat-file", "-p", `entire/checkpoints/v1:${path}`) + lastNewline(repository, path);
}

/** A checkpoint's file, from its id. */
export function inCheckpoint(repository: TemporaryRepository, id: string, path: string): string {
  return show(repository, `${id.slice(0, 2)}/${id.slice(2)}/${path}`);
}

export async function enabled(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  return repository;
}

/** A repository with one turn's file, not committed yet. */
export async function withTurn(): Promise<{ repository: TemporaryRepository; claude: ScriptedClaude }> {
  const repository = await enabled();
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Add a greeting", [write("hello.txt", "hello\n")]);
  return { repository, claude };
}

/** git as the user runs it, with variables of theirs. */
export function gitWith(repository: TemporaryRepository, env: Record<string, string>, ...args: string[]): void {
  execFileSync("git", args, { cwd: repository.path, env: repository.environment(env), stdio: "pipe" });
}

export function promptsOf(repository: TemporaryRepository, id: string, session = 0): string {
  return inCheckpoint(repository, id, `${session}/prompt.txt`);
}

function lastNewline(repository: TemporaryRepository, path: string): string {
  const size = Number(repository.checkpoints("cat-file", "-s", `entire/checkpoints/v1:${path}`));
  return Buffer.byteLength(repository.checkpoints("cat-file", "-p", `entire/checkpoints/v1:${path}`)) < size
    ? "\n"
    : "";
}

function waiting(repository: TemporaryRepository): string[] {
  const store = repository.at(".git/backtrail");
  return [...namesIn(join(store, "queue")), ...namesIn(store).filter((name) => name.startsWith("rewrites"))];
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
