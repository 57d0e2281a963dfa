/** A transcript as Claude Code writes it: one line a content block, each naming the one before it. */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { now } from "../../../src/base/clock.ts";

export const MODEL = "claude-opus-5-5";

/** A line's message from the model. */
export function messageOf(id: string, block: Record<string, unknown>, stop: string, usage: Record<string, number>) {
  return { id, type: "message", role: "assistant", model: MODEL, content: [block], stop_reason: stop, usage };
}

export class ScriptedTranscript {
  readonly path: string;
  readonly #session: string;
  readonly #cwd: string;
  #last: string | null = null;
  #messages = 0;

  constructor(home: string, cwd: string, session: string) {
    this.#session = session;
    this.#cwd = cwd;
    this.path = join(home, ".claude", "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), `${session}.jsonl`);
  }

  user(content: unknown, promptId: string, extra: Record<string, unknown> = {}): string {
    return this.#append({ type: "user", promptId, message: { role: "user", content }, ...extra });
  }

  /** One message of the model's, in as many lines as it has blocks; they share its id and its usage. */
  assistant(blocks: Record<string, unknown>[]): void {
    this.#messages += 1;
    const stop = blocks.some((block) => block["type"] === "tool_use") ? "tool_use" : "end_turn";
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 1000,
      output_tokens: 20,
    };
    for (const block of blocks) {
      const id = `msg_scripted_${this.#session.slice(0, 8)}_${this.#messages}`;
      const message = messageOf(id, block, stop, usage);
      this.#append({ type: "assistant", message, requestId: `req_scripted_${this.#messages}` });
    }
  }

  #append(line: Record<string, unknown>): string {
    const uuid = randomUUID();
    mkdirSync(dirname(this.path), { recursive: true });
    const whole = {
      parentUuid: this.#last,
      isSidechain: false,
      ...line,
      uuid,
      timestamp: now().toISOString(),
      userType: "external",
      entrypoint: "cli",
      cwd: this.#cwd,
      sessionId: this.#session,
      version: "2.1.325",
      gitBranch: "main",
    };
    appendFileSync(this.path, `${JSON.stringify(whole)}\n`, { mode: 0o600 });
    this.#last = uuid;
    return uuid;
  }
}
