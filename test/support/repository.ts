/** A real git repository in a temporary place, with a home of its own beside it. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { type Result, runBinary } from "./binary.ts";
import { TemporaryDirectory } from "./directory.ts";
import { cleanEnvironment, minute } from "./environment.ts";
import { Directory } from "./files/directory.ts";

export interface CommandOptions {
  /** Below the repository, or absolute; the repository itself unless given. */
  cwd?: string;
  input?: string | Uint8Array;
  env?: Record<string, string | undefined>;
  /** Fixes the time at so many minutes into the journey. */
  minute?: number;
  timeout?: number;
}

export class TemporaryRepository implements Disposable {
  readonly #place = new TemporaryDirectory();
  readonly path = this.#place.at("repository");
  readonly home = this.#place.at("home");
  readonly atHome = new Directory(this.home);

  constructor() {
    mkdirSync(this.path);
    mkdirSync(this.home);
  }

  /** Everything that git and Backtrail see here. */
  environment(extra: Record<string, string | undefined> = {}): Record<string, string> {
    // No repository above the temporary directory is ever found.
    return cleanEnvironment(this.home, { GIT_CEILING_DIRECTORIES: this.#place.path, ...extra });
  }

  at(...names: string[]): string {
    return this.#place.at("repository", ...names);
  }

  write(name: string, content: string | Uint8Array): string {
    return this.#place.write(`repository/${name}`, content);
  }

  /** Several files, by name. */
  writeAll(files: Record<string, string | Uint8Array>): void {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  read(name: string): string {
    return this.#place.read(`repository/${name}`);
  }

  exists(name: string): boolean {
    return this.#place.exists(`repository/${name}`);
  }

  /** Like `git`, in the repository that has the checkpoints' branch: the private one unless checkpoints are shared. */
  checkpoints(...args: string[]): string {
    const hidden = ["--git-dir", this.at(".git/backtrail/private.git")];
    const isHidden =
      this.exists(".git/backtrail/private.git") && this.git(...hidden, "for-each-ref", "refs/heads/entire");
    return this.git(...(isHidden ? hidden : []), ...args);
  }

  /** Runs git here and gives what it printed, without the last line end; throws if it fails. */
  git(...args: string[]): string {
    const output = execFileSync("git", args, {
      cwd: this.path,
      env: this.environment(),
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return output.replace(/\n$/, "");
  }

  /** Commits all that is here. */
  commit(message: string): string {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", message);
    return this.git("rev-parse", "HEAD");
  }

  /** Runs the built executable here. */
  run(args: string[], options: CommandOptions = {}): Promise<Result> {
    const clock = options.minute === undefined ? {} : { BACKTRAIL_CLOCK: minute(options.minute) };
    return runBinary(args, {
      cwd: resolve(this.path, options.cwd ?? "."),
      env: this.environment({ ...clock, ...options.env }),
      ...(options.input === undefined ? {} : { input: options.input }),
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    });
  }

  /** Runs a command that must succeed with `--json`, and gives what it printed. */
  async json<T = unknown>(args: string[], options: CommandOptions = {}): Promise<T> {
    const result = await this.run([...args, "--json"], options);
    if (result.code !== 0) throw new Error(`backtrail ${args.join(" ")} ended with ${result.code}: ${result.stderr}`);
    return JSON.parse(result.stdout) as T;
  }

  /** What an agent does: one hook, with its payload on standard input. */
  hook(agent: string, verb: string, payload: unknown, options: CommandOptions = {}): Promise<Result> {
    const input = typeof payload === "string" ? payload : JSON.stringify(payload);
    return this.run(["hooks", agent, verb], { input, ...options });
  }

  remove(): void {
    this.#place.remove();
  }

  [Symbol.dispose](): void {
    this.remove();
  }
}

/** A repository with one commit on `main` (`README.md`), or with none if `empty`. */
export function temporaryRepository(options: { empty?: boolean } = {}): TemporaryRepository {
  const repository = new TemporaryRepository();
  repository.git("init", "--quiet", "--initial-branch=main");
  if (options.empty) return repository;
  repository.write("README.md", "# Example\n");
  repository.commit("first");
  return repository;
}

/** A folder that is no git repository, with the same conveniences. */
export function temporaryFolder(): TemporaryRepository {
  return new TemporaryRepository();
}
