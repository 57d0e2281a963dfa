/** A repository whose turns are recorded step by step, without an agent. */
import { execFileSync } from "node:child_process";
import { createWorkspace, type Workspace, writeStore } from "../../src/git/workspace.ts";
import type { Step } from "../../src/model/step.ts";
import { minute, type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { save } from "../support/saving.ts";

export { AGENT } from "../support/saving.ts";

export class Recorded implements Disposable {
  readonly repository: TemporaryRepository;
  readonly workspace: Workspace;
  #minutes = 0;

  constructor(repository: TemporaryRepository, workspace: Workspace) {
    this.repository = repository;
    this.workspace = workspace;
  }

  /** A minute later than whatever was before. */
  later(): string {
    this.#minutes++;
    return minute(this.#minutes);
  }

  async step(kind: Step["kind"], session: string, turn: number, details: Partial<Step> = {}): Promise<Step> {
    const [step] = await save(this.workspace, [{ session, details: { kind, turn, time: this.later(), ...details } }]);
    if (!step) throw new Error("Nothing was saved.");
    return step;
  }

  /** One turn that does this. */
  async turn(session: string, turn: number, prompt: string, deed: () => void): Promise<void> {
    await this.step("turn-start", session, turn, { prompt });
    deed();
    await this.step("turn-end", session, turn, { prompt, response: `Done: ${prompt}` });
  }

  /** Commits all that is there; gives the commit's id. */
  commit(message: string, ...options: string[]): string {
    this.repository.git("add", "--all");
    return this.commitStaged(message, ...options);
  }

  commitStaged(message: string, ...options: string[]): string {
    this.git("commit", "--quiet", "--allow-empty", "--message", message, ...options);
    return this.repository.git("rev-parse", "HEAD");
  }

  /** git at a time of its own. */
  git(...args: string[]): void {
    execFileSync("git", args, {
      cwd: this.repository.path,
      env: this.repository.environment({ GIT_COMMITTER_DATE: this.later() }),
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

export async function recordedRepository(): Promise<Recorded> {
  const repository = temporaryRepository();
  const workspace = await createWorkspace(repository.path);
  writeStore(workspace, { v: 1, enabledAt: minute(0), agents: {} });
  return new Recorded(repository, workspace);
}
