/** Tells the story as Aider does: it has no hooks, but writes down what it does while `backtrail watch` follows. */
import { expect } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { executable } from "../support/index.ts";
import { type AgentDriver, type Moment, PROMPTS, type World } from "./story.ts";

const HISTORY = ".aider.chat.history.md";

export class WatchDriver implements AgentDriver {
  readonly agent = "aider";
  #child: ChildProcess | undefined;
  #output = "";

  async begin({ repository, env }: World): Promise<void> {
    repository.write(".gitignore", ".aider*\n");
    repository.commit("as aider does it");
    repository.write(HISTORY, "\n");
    expect((await repository.run(["enable", "--agent", "aider"], { env })).code).toBe(0);
    const child = spawn(executable(), ["watch"], { cwd: repository.path, env: repository.environment(env) });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        this.#output += data.toString();
      });
    }
    this.#child = child;
    await this.#said("Following");
  }

  async send(moment: Moment, { repository }: World): Promise<void> {
    const append = (text: string) => appendFileSync(repository.at(HISTORY), text);
    if (moment.what === "session-start") append("\n# aider chat started at 2026-01-05 09:00:00\n\n");
    if (moment.what === "prompt") {
      append(`\n#### ${moment.text}  \n`);
      await this.#said(moment.text);
    }
    if ("file" in moment) append(`\n> Applied edit to ${moment.file}  \n`);
    if (moment.what === "turn-end") append("\nDone.\n\n> Tokens: 1.5k sent, 20 received.  \n");
  }

  async end(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    await Bun.sleep(200);
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGINT");
    await ended;
    expect(this.#output).toContain(PROMPTS[1]);
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
  }

  async #said(text: string): Promise<void> {
    while (!this.#output.includes(text)) {
      if (this.#child?.exitCode !== null) throw new Error(`watch ended: ${this.#output}`);
      await Bun.sleep(20);
    }
  }
}
