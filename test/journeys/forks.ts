/** Attempts: a recorded session, forks of it, and the questions that stories ask of both. */
import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Result } from "../support/binary.ts";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository } from "../support/index.ts";

export interface Fork {
  name: string;
  kind: string;
  state: string;
  step: string | null;
  branch: string;
  directory: string;
  worktree: string;
  chat: { agent: string; session: string | null; file: string; command: string } | null;
}

export interface Forked {
  fork: Fork;
  missing: { what: string; why: string }[];
  notes: string[];
}

export class Attempts implements Disposable {
  readonly repository: TemporaryRepository;
  readonly agent: ScriptedClaude;

  private constructor(repository: TemporaryRepository) {
    this.repository = repository;
    this.agent = new ScriptedClaude(repository);
  }

  static async begin(repository: TemporaryRepository = temporaryRepository()): Promise<Attempts> {
    const enabled = await repository.run(["enable", "--agent", "claude-code"]);
    if (enabled.code !== 0) throw new Error(enabled.stderr);
    const attempts = new Attempts(repository);
    await attempts.agent.start();
    return attempts;
  }

  fork(...args: string[]): Promise<Forked> {
    return this.repository.json<Forked>(["fork", ...args]);
  }

  /** A turn of the agent in the fork, told by the hooks alone. */
  async turnIn({ directory, chat }: Fork, prompt: string, file: string, content: string): Promise<void> {
    const payload = { session_id: chat?.session, transcript_path: chat?.file, cwd: directory };
    const hook = (verb: string, event: string, more: object) =>
      this.repository.hook(
        "claude-code",
        verb,
        { ...payload, hook_event_name: event, ...more },
        { cwd: directory, env: { BACKTRAIL_WORKER: "off", CLAUDE_PROJECT_DIR: directory } },
      );
    await hook("user-prompt-submit", "UserPromptSubmit", { prompt });
    await Bun.write(join(directory, file), content);
    await hook("stop", "Stop", { stop_hook_active: false, last_assistant_message: "Done." });
  }

  /** Everything in a work tree that git tracks or could: modes, targets of links, exact bytes; and what is staged. */
  look(directory: string = this.repository.path): string[] {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: directory, env: this.repository.environment(), encoding: "buffer" });
    const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").toString("utf8").split("\0");
    const files = [...new Set(listed.filter((path) => path !== ""))].sort().map((path) => {
      const stat = lstatSync(join(directory, path), { throwIfNoEntry: false });
      if (!stat) return `${path} is not there`;
      if (stat.isSymbolicLink()) return `${path} -> ${readlinkSync(join(directory, path))}`;
      return `${path} ${stat.mode & 0o111 ? "x" : "-"} ${readFileSync(join(directory, path)).toString("latin1")}`;
    });
    return [...files, git("ls-files", "--stage").toString("utf8"), git("status", "--porcelain").toString("utf8")];
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

/** What the people of a transcript say, in order; tools' results left out. */
export function said(path: string): string[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .flatMap(({ message }) => {
      if (typeof message?.content === "string") return [message.content as string];
      const text = message?.content?.find((block: { type: string }) => block.type === "text");
      return text ? [text.text as string] : [];
    });
}

/** What was printed, without what differs at each run; on a busy machine there is a word on what is going on. */
export function shownIn({ repository }: Attempts, { stdout, stderr }: Result): string {
  return (stdout + stderr.replace(/^\w.*…\n/gm, ""))
    .replaceAll(`${repository.path}.forks`, "<forks>")
    .replaceAll(dirname(repository.path), "<place>")
    .replace(/\b[k-z]{12}\b/g, "<step>")
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<session>");
}
