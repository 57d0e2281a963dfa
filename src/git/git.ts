/**
 * git in one workspace. git discovers a repository itself; a private store, which has no `.git` in its work tree, is
 * named explicitly.
 */
import { type GitOptions, type GitResult, git, gitText, tryGit } from "./run.ts";
import type { Workspace } from "./workspace.ts";

type Options = Omit<GitOptions, "cwd">;

class Git {
  /** Arguments before the command, for a caller that starts git in its own way. */
  readonly args: readonly string[];
  readonly cwd: string;

  constructor({ kind, gitDir, root }: Pick<Workspace, "kind" | "gitDir" | "root">) {
    this.args = kind === "repository" ? [] : ["--git-dir", gitDir, "--work-tree", root];
    this.cwd = root;
  }

  /** Throws if git fails. */
  run(args: readonly string[], options?: Options): Promise<Buffer> {
    return git([...this.args, ...args], { ...options, cwd: this.cwd });
  }

  /** Like `run`, as text without the last line ending. */
  text(args: readonly string[], options?: Options): Promise<string> {
    return gitText([...this.args, ...args], { ...options, cwd: this.cwd });
  }

  /** Returns git's result whatever it is. */
  try(args: readonly string[], options?: Options): Promise<GitResult> {
    return tryGit([...this.args, ...args], { ...options, cwd: this.cwd });
  }

  /** The id of the object that a revision names; null if it names none. */
  async resolve(revision: string): Promise<string | null> {
    const found = await this.try(["rev-parse", "--verify", "--quiet", "--end-of-options", revision]);
    return found.code === 0 ? found.stdout.toString("latin1").trim() : null;
  }
}

export function gitIn(workspace: Workspace): Git {
  return new Git(workspace);
}
