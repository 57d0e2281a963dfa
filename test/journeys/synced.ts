/** Machines that share a repository: each a clone with a home of its own, and an agent that works there. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ScriptedClaude, TemporaryDirectory, write } from "../support/index.ts";
import { TemporaryRepository, temporaryRepository } from "../support/repository.ts";
import { checkpointsOf, settled } from "./commits.ts";

export const BRANCH = "refs/heads/entire/checkpoints/v1";

/** A bare repository that everybody can reach. */
export class Shared implements Disposable {
  readonly #place = new TemporaryDirectory();
  readonly path: string;
  readonly #machines: TemporaryRepository[] = [];

  constructor(path?: string) {
    this.path = path ?? this.#place.at("shared.git");
    execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", this.path]);
  }

  git(...args: string[]): string {
    return execFileSync("git", ["--git-dir", this.path, ...args], { encoding: "utf8", stdio: "pipe" }).replace(
      /\n$/,
      "",
    );
  }

  /** A script in place of one of the server's hooks. */
  hook(name: string, script: string): void {
    this.#place.write(`shared.git/hooks/${name}`, `#!/bin/sh\n${script}\n`);
    execFileSync("chmod", ["755", `${this.path}/hooks/${name}`]);
  }

  at(...names: string[]): string {
    return this.#place.at(...names);
  }

  write(name: string, content: string): string {
    return this.#place.write(name, content);
  }

  /** The first machine makes the history, the others clone it. */
  async machine(): Promise<TemporaryRepository> {
    const repository = this.#machines.length === 0 ? temporaryRepository() : new TemporaryRepository();
    if (this.#machines.length === 0) this.joinedBy(repository);
    else {
      rmSync(repository.path, { recursive: true });
      execFileSync("git", ["clone", "--quiet", this.path, repository.path], {
        env: repository.environment(),
        stdio: "pipe",
      });
    }
    this.#machines.push(repository);
    const { code, stderr } = await repository.run(["enable", "--agent", "claude-code"]);
    if (code !== 0) throw new Error(stderr);
    return repository;
  }

  /** A repository that is there already makes the history. */
  joinedBy(repository: TemporaryRepository): void {
    repository.git("remote", "add", "origin", this.path);
    repository.git("push", "--quiet", "--set-upstream", "origin", "main");
  }

  [Symbol.dispose](): void {
    for (const machine of this.#machines) machine.remove();
    this.#place.remove();
  }
}

/** A turn that writes a file, its commit, and the checkpoint written. Gives the checkpoint's id. */
export async function work(
  repository: TemporaryRepository,
  prompt: string,
  file: string,
  claude = new ScriptedClaude(repository),
): Promise<string> {
  await claude.turn(prompt, [write(file, `${prompt}\n`)], "There it is.");
  repository.commit(prompt);
  await settled(repository);
  return checkpointsOf(repository, "HEAD")[0] ?? "";
}

/** The checkpoints on a branch. */
export function checkpointsIn(git: (...args: string[]) => string): string[] {
  if (git("for-each-ref", BRANCH) === "") return [];
  const names = git("ls-tree", "-r", "-d", "--name-only", BRANCH).split("\n");
  return names
    .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{10}$/.test(name))
    .map((name) => name.replace("/", ""))
    .sort();
}

export interface SyncState {
  here: number;
  unpushed: string[] | null;
  pushed: string | null;
  fetched: string | null;
  waiting: string | null;
  error: { time: string; message: string } | null;
  next: string | null;
}

/** The push that waited has been made or given up for now: nobody is at it any more. */
export async function pushSettled(repository: TemporaryRepository): Promise<SyncState> {
  const lock = repository.at(".git/backtrail/sync/lock");
  const wish = repository.at(".git/backtrail/sync/wish.json");
  for (let attempt = 0; attempt < 400; attempt++) {
    // Read before the state: a push that ends in between would make an older state look settled.
    const asked = wishTime(wish);
    const state = await repository.json<SyncState>(["sync", "status"], { env: { BACKTRAIL_WORKER: "off" } });
    const tried = asked === null || (state.error !== null && state.error.time >= asked);
    if (tried && !existsSync(lock)) return state;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The push that waited was never made.");
}

/** Null if nothing waits. */
function wishTime(file: string): string | null {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { time: string }).time;
  } catch {
    return null;
  }
}
