/**
 * A repository whose git hooks write down that they ran, and a git that ends: after some seconds with everything that it
 * started, and before that by the hooks themselves, which give up once there have been too many of them.
 */
import { spawn } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace, type Workspace } from "../../src/git/workspace.ts";
import { executable } from "./binary.ts";
import { type TemporaryRepository, temporaryRepository } from "./repository.ts";

/** Hooks of a few commits and a push are far fewer; hooks that call each other are more in no time. */
const MAX_HOOKS = 100;
const MAX_MS = 20_000;

/** The hooks that Entire and Backtrail both install. */
export const SHARED_HOOKS = ["prepare-commit-msg", "commit-msg", "post-commit", "pre-push"] as const;

export class HookedRepository implements Disposable {
  readonly repository: TemporaryRepository = temporaryRepository();
  readonly workspace: Workspace;
  /** Stands for Backtrail's executable, and writes down which hook called it; or the real one. */
  readonly executable: string;
  readonly #log: string;
  #commits = 0;

  constructor(options: { isReal?: boolean } = {}) {
    const workspace = findWorkspace(this.repository.path);
    if (!workspace) throw new Error("No workspace.");
    this.workspace = workspace;
    this.#log = join(this.repository.home, "hooks.log");
    writeFileSync(this.#log, "");
    mkdirSync(join(workspace.commonDir, "hooks"), { recursive: true });
    this.executable = options.isReal ? executable() : join(this.repository.home, "backtrail");
    if (options.isReal) return;
    writeFileSync(this.executable, `#!/bin/sh\n${this.line("$3", "backtrail")}\n`);
    chmodSync(this.executable, 0o755);
    // Every script of ours has something to call the executable for.
    for (const mark of ["worktrees/main/active/x", "worktrees/main/commit-intent.json", "push"])
      this.repository.write(`.git/backtrail/${mark}`, "{}");
  }

  /** A line of shell that writes down who ran in which hook, and gives up where that has happened too often. */
  line(hook: string, who: string): string {
    const log = `'${this.#log}'`;
    return `echo "${hook} ${who}" >>${log}; [ "$(wc -l <${log})" -lt ${MAX_HOOKS} ] || exit 99`;
  }

  /** A hook of the user's for each name, below the repository. */
  userHooks(directory = ".git/hooks", hooks: readonly string[] = SHARED_HOOKS, mode = 0o750): void {
    for (const hook of hooks) this.script(`${directory}/${hook}`, [this.line(hook, "user")], mode);
  }

  /** A program outside of the repository that writes down who ran; for tools that call programs. */
  program(hook: string, who: string): string {
    this.script(`../home/bin/${who}-${hook}`, [this.line(hook, who)]);
    return join(this.repository.home, "bin", `${who}-${hook}`);
  }

  script(path: string, lines: readonly string[], mode = 0o755): void {
    chmodSync(this.repository.write(path, `${["#!/bin/sh", ...lines].join("\n")}\n`), mode);
  }

  /** A commit and a push; how often each ran in each hook, as `commit-msg user`. */
  async commitAndPush(cwd = this.repository.path, env: Record<string, string> = {}): Promise<Record<string, number>> {
    const before = this.#lines().length;
    this.#commits++;
    // A message that begins so makes commit-msg call the executable, too.
    const message = `Entire-Checkpoint: 0123456789ab\n\nnumber ${this.#commits}`;
    await this.git(["commit", "--quiet", "--allow-empty", "--message", message], { cwd, env });
    await this.git(["push", "--quiet", "--force", this.remote(), "HEAD:refs/heads/pushed"], { cwd, env });
    return counted(this.#lines().slice(before));
  }

  /** git, with all that it starts in a group of its own. Throws where it fails or takes too long. */
  async git(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<string> {
    const child = spawn("git", args, {
      cwd: options.cwd ?? this.repository.path,
      env: this.repository.environment(options.env),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    let isLate = false;
    const end = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // Everything has ended.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, MAX_MS);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    clearTimeout(timer);
    end();
    if (isLate) throw new Error(`git ${args[0]} did not end:\n${this.#lines().join("\n")}`);
    if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}:\n${output}`);
    return output;
  }

  remote(): string {
    const path = join(this.repository.home, "remote.git");
    this.repository.git("init", "--quiet", "--bare", path);
    return path;
  }

  /** Names, modes and bytes of everything in a directory of hooks. */
  picture(directory = ".git/hooks"): Record<string, string> {
    const path = this.repository.at(directory);
    const names = readdirSync(path).filter((name) => !name.endsWith(".sample"));
    return Object.fromEntries(names.sort().map((name) => [name, pictureOf(join(path, name))]));
  }

  #lines(): string[] {
    return readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

function pictureOf(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  return stat.isFile() ? `${(stat.mode & 0o7777).toString(8)} ${readFileSync(path, "latin1")}` : "directory";
}

function counted(lines: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
}

/** What `commitAndPush` counts where each of these runs once in each hook. */
export function onceEach(who: readonly string[], hooks: readonly string[] = SHARED_HOOKS): Record<string, number> {
  return Object.fromEntries(hooks.flatMap((hook) => who.map((one) => [`${hook} ${one}`, 1])));
}
