/** For tests: a repository, a home directory and a place for Backtrail's own files, all of them temporary. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import profileJson from "../../src/agents/builtin/claude-code/profile.json" with { type: "json" };
import type { Profile, Scope } from "../../src/agents/contract/profile.ts";
import { type InstallOptions, inspect } from "../../src/agents/hooks/install.ts";

export const profile = profileJson as unknown as Profile;
export const agent = { profile };

export class Sandbox {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "backtrail-install-")));
  readonly home = join(this.base, "home");
  readonly #saved = process.env["BACKTRAIL_HOME"];
  root: string;
  options: InstallOptions;

  constructor() {
    process.env["BACKTRAIL_HOME"] = join(this.base, "backtrail");
    mkdirSync(this.home);
    this.root = this.repository("repository");
    this.options = this.optionsFor(this.root);
  }

  remove(): void {
    if (this.#saved === undefined) delete process.env["BACKTRAIL_HOME"];
    else process.env["BACKTRAIL_HOME"] = this.#saved;
    rmSync(this.base, { recursive: true, force: true });
  }

  repository(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path);
    this.git(path, "init", "--quiet");
    return path;
  }

  optionsFor(root: string, executable = join(this.base, "bin", "backtrail")): InstallOptions {
    const commonDir = join(root, ".git");
    const storeDir = join(commonDir, "backtrail");
    mkdirSync(storeDir, { recursive: true });
    const workspace = { kind: "repository" as const, root, commonDir, storeDir };
    return { workspace, executable, home: this.home, env: this.#gitEnvironment() };
  }

  git(cwd: string, ...args: string[]): string {
    const env = { ...process.env, ...this.#gitEnvironment(), HOME: this.home };
    const identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"];
    return execFileSync("git", [...identity, ...args], { cwd, env, encoding: "utf8" });
  }

  status(): string {
    return this.git(this.root, "status", "--porcelain=v2", "--untracked-files=all");
  }

  put(path: string, content: string | Buffer): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  read(path: string): string {
    return readFileSync(path, "utf8");
  }

  bytes(path: string): Buffer {
    return readFileSync(path);
  }

  /** Makes a symbolic link and the directories above it. */
  link(path: string, target: string): void {
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }

  state(scope: Scope) {
    return inspect(agent, scope, this.options).state;
  }

  get localFile(): string {
    return join(this.root, ".claude", "settings.local.json");
  }

  get userFile(): string {
    return join(this.home, ".claude", "settings.json");
  }

  get excludeFile(): string {
    return join(this.root, ".git", "info", "exclude");
  }

  #gitEnvironment(): Record<string, string> {
    return {
      XDG_CONFIG_HOME: join(this.home, ".config"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: join(this.home, ".gitconfig"),
    };
  }
}
