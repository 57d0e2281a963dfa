/**
 * The world of one run: a home, a repository and what lies around it, and the processes that are started there, the user's git and
 * Backtrail's commands.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ended, Invocation } from "./invocation.ts";
import { Script } from "./script.ts";
import type { Variant } from "./variants.ts";
import { namesIn, WorkFiles } from "./work-files.ts";

const GIT_TIMEOUT_MS = 60_000;

/** Worlds that are to be taken down when the process is told to end. */
const LIVE = new Set<World>();
process.on("exit", () => {
  for (const world of LIVE) world[Symbol.dispose]();
});

export class World extends WorkFiles implements Disposable {
  readonly variant: Variant;
  readonly executable: string;
  /** The repository, or the folder, that everything is about; it may be moved. */
  repository: string;
  /** The work tree that the present operation is about, where that is not left to chance. */
  where: "repository" | "other" | undefined;
  /** Ids of all steps that were ever seen, oldest first. */
  readonly steps: string[] = [];
  /** Everything that Backtrail ever printed. */
  said = "";
  /** What tears it down again, in reverse order. */
  readonly cleanups: (() => void)[] = [];
  /** Milliseconds after which git itself is killed; for the next operation alone. */
  gitKill: number | null = null;
  gitKills = 0;
  /** Some files can't be changed now. */
  isProtected = false;
  /** Git directories that lie outside of the root. */
  readonly stores = new Set<string>();
  /** The mounted git directory that can be filled and made read-only. */
  smallDisk: string | null = null;

  constructor(variant: Variant, executable: string) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-chaos-")));
    super(root, new Script(root));
    LIVE.add(this);
    this.variant = variant;
    this.executable = executable;
    this.repository = join(this.root, "w", "p");
    for (const name of ["home", "w", "bin"]) mkdirSync(join(this.root, name));
    const config =
      '[user]\n\tname = Ada\n\temail = ada@example.com\n[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n';
    writeFileSync(join(this.root, "home", "gitconfig"), config);
    this.script.add(`printf '${config.replaceAll("\n", "\\n").replaceAll("\t", "\\t")}' >"$HOME/gitconfig"`);
  }

  get home(): string {
    return join(this.root, "home");
  }

  env(extra: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: `${join(this.root, "bin")}:${process.env["PATH"] ?? ""}`,
      HOME: this.home,
      BT: this.executable,
      BACKTRAIL_HOME: join(this.home, "backtrail"),
      GIT_CONFIG_GLOBAL: join(this.home, "gitconfig"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CEILING_DIRECTORIES: this.root,
      GIT_TERMINAL_PROMPT: "0",
      GIT_EDITOR: "true",
      GIT_SEQUENCE_EDITOR: "true",
      LANG: "C.UTF-8",
      TZ: "UTC",
      TERM: "dumb",
      NO_COLOR: "1",
      ...extra,
    };
  }

  /** Work trees: the repository, forks, worktrees of the user and of runs, in the order of their names. */
  places(): string[] {
    const top = join(this.root, "w");
    const found = namesIn(top).flatMap((name) => {
      const path = join(top, name);
      // Nobody works in a directory that is hidden while it is made or removed.
      if (name.startsWith(".")) return [];
      const isFork = this.variant === "folder" && name.startsWith("fk-");
      if (path === this.repository || isFork || existsSync(join(path, ".git"))) return [path];
      return namesIn(path)
        .map((inner) => join(path, inner))
        .filter((inner) => existsSync(join(inner, ".git")));
    });
    return found.includes(this.repository) ? found : [this.repository, ...found];
  }

  /** The work tree that a directory belongs to. */
  placeOf(directory: string): string {
    return this.places().find((place) => directory === place || directory.startsWith(`${place}/`)) ?? directory;
  }

  /** The id of some step; `last` while there is none. */
  anyStep(number: number): string {
    return this.steps[number % Math.max(1, this.steps.length)] ?? "last";
  }

  /** What the user's git does; its own failures are the user's to live with. */
  git(cwd: string, ...args: string[]): { stdout: string; ok: boolean } {
    return this.gitFed(cwd, undefined, ...args);
  }

  gitFed(cwd: string, input: string | undefined, ...args: string[]): { stdout: string; ok: boolean } {
    const timeout = this.gitKill ?? GIT_TIMEOUT_MS;
    const ended = spawnSync("git", args, {
      cwd,
      env: this.env(),
      encoding: "utf8",
      timeout,
      killSignal: "SIGKILL",
      input,
    });
    if (ended.signal && this.gitKill !== null) this.gitKills += 1;
    const kill = this.gitKill === null ? "" : `timeout -s KILL ${this.gitKill / 1000} `;
    const fed = input === undefined ? "" : `${this.printf(input)} | `;
    this.did(`(cd ${this.script.quote(cwd)} && ${fed}${kill}git ${this.script.words(args)})`);
    return { stdout: ended.stdout ?? "", ok: ended.status === 0 };
  }

  /** A repository in which there is nothing. */
  emptyRepository(): string {
    const path = join(this.root, "empty.git");
    if (!existsSync(path)) spawnSync("git", ["init", "-q", "--bare", path], { env: this.env() });
    return path;
  }

  /** What git says; nothing is changed by it, and no line of the script is about it. */
  ask(cwd: string, ...args: string[]): string {
    const env = this.env({ GIT_OPTIONAL_LOCKS: "0" });
    return spawnSync("git", args, { cwd, env, encoding: "utf8", timeout: GIT_TIMEOUT_MS }).stdout ?? "";
  }

  /** Starts Backtrail; it belongs to a process group of its own, so that it can be killed with all that it starts. */
  start(
    invocation: Invocation,
    options: { kill?: { ms: number; alone: boolean }; env?: Record<string, string> },
  ): Promise<Ended> {
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    const env = this.env({ ...invocation.env, ...options.env });
    const child = spawn(this.executable, invocation.args, { cwd: invocation.cwd, env, stdio: "pipe", detached: true });
    let killed = false;
    let timedOut = false;
    const kill = (alone: boolean): void => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      try {
        process.kill(alone ? child.pid : -child.pid, "SIGKILL");
        killed = true;
      } catch {
        // It has just ended.
      }
    };
    const patience = setTimeout(() => {
      timedOut = true;
      kill(false);
    }, GIT_TIMEOUT_MS);
    const timer = options.kill ? setTimeout(kill, options.kill.ms, options.kill.alone) : undefined;
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearTimeout(patience);
      clearTimeout(timer);
      // What was started in the background may keep the pipes open; what was said until now is all that counts.
      setTimeout(() => {
        this.said += `${stdout}\n${stderr}\n`;
        // A fault point ends the process by the same signal.
        resolve({ stdout, stderr, code, killed: killed || signal === "SIGKILL", timedOut });
      }, 5);
    });
    child.stdin.on("error", () => {});
    child.stdin.end(invocation.input ?? "");
    return promise;
  }

  [Symbol.dispose](): void {
    LIVE.delete(this);
    for (const cleanup of this.cleanups.reverse()) cleanup();
    rmSync(this.root, { recursive: true, force: true });
  }
}
