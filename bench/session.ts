/** A Claude Code session in a repository: the input of its hooks, and its growing transcript. */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ScriptedTranscript } from "../test/support/claude/transcript.ts";
import { type Contender, type Program, timed } from "./measure.ts";
import type { Repository } from "./repository.ts";

const PAYLOADS = join(import.meta.dirname, "..", "test", "agents", "claude-code", "payloads");
/** Bytes that a turn adds to a transcript. */
const TURN_BYTES = 50_000;

export class BenchSession {
  readonly repository: Repository;
  readonly #executable: string;
  readonly #agent: string;
  readonly #id = randomUUID();
  readonly #transcript: ScriptedTranscript;
  #turn = 0;

  /** `agent`: another agent whose hooks send the same as Claude Code's. */
  constructor(executable: string, repository: Repository, agent = "claude-code") {
    this.#executable = executable;
    this.#agent = agent;
    this.repository = repository;
    this.#transcript = new ScriptedTranscript(repository.home, repository.path, this.#id);
    mkdirSync(dirname(this.#transcript.path), { recursive: true });
  }

  start(): Program {
    return this.#hook("SessionStart-startup", "session-start");
  }

  /** A prompt, as a program to be run. */
  prompt(): Program {
    this.#turn++;
    const prompt = `Turn ${this.#turn}: make it better`;
    return this.#hook("UserPromptSubmit", "user-prompt-submit", { prompt, prompt_id: randomUUID() });
  }

  /** Writes a turn's transcript, so that the hook at its end does not wait for it. */
  answer(): void {
    const path = this.repository.path;
    this.#transcript.user(`Turn ${this.#turn}: make it better`, randomUUID());
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    for (let size = 0; size < TURN_BYTES; size += text.length + 1_000) {
      const id = randomUUID();
      const input = { file_path: join(path, "src", "module-1.ts"), content: text };
      this.#transcript.assistant([{ type: "tool_use", id, name: "Write", input }]);
      this.#transcript.user([{ type: "tool_result", tool_use_id: id, content: "ok" }], randomUUID());
    }
    this.#transcript.assistant([{ type: "text", text: this.#lastWords() }]);
  }

  stop(): Program {
    return this.#hook("Stop", "stop", { last_assistant_message: this.#lastWords() });
  }

  wrote(): Program {
    return this.#hook("PostToolUse-Write", "post-tool-use");
  }

  end(): Program {
    return this.#hook("SessionEnd-other", "session-end");
  }

  /** A whole turn, not measured. */
  turn(): void {
    timed(this.prompt());
    this.answer();
    timed(this.stop());
  }

  /** Grows the transcript to this size before anything is recorded. */
  growTranscript(bytes: number): void {
    const filler = `{"type":"attachment-note","content":"${"lorem ipsum dolor sit amet ".repeat(400)}"}\n`;
    const block = filler.repeat(100);
    for (let size = 0; size < bytes; size += block.length) appendFileSync(this.#transcript.path, block);
  }

  /** The same with different sentences, which compress like real text and not like one repeated line. */
  growInWords(bytes: number): void {
    let seed = 1;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const syllables = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve"];
    const word = () => Array.from({ length: 1 + random(4) }, () => syllables[random(syllables.length)]).join("");
    for (let size = 0; size < bytes; ) {
      const lines: string[] = [];
      for (let i = 0; i < 200; i++) {
        const text = Array.from({ length: 300 }, word).join(" ");
        lines.push(JSON.stringify({ type: "attachment-note", uuid: randomUUID(), content: text }));
      }
      const block = `${lines.join("\n")}\n`;
      appendFileSync(this.#transcript.path, block);
      size += block.length;
    }
  }

  get transcriptBytes(): number {
    return statSync(this.#transcript.path).size;
  }

  #lastWords(): string {
    return `Turn ${this.#turn} is done.`;
  }

  /** The payload as the real one was recorded, with this session in it. */
  #hook(payload: string, verb: string, fields: Record<string, unknown> = {}): Program {
    const recorded: Record<string, unknown> = JSON.parse(readFileSync(join(PAYLOADS, `${payload}.json`), "utf8"));
    const own = { session_id: this.#id, transcript_path: this.#transcript.path, cwd: this.repository.path, ...fields };
    return {
      program: this.#executable,
      args: ["hooks", this.#agent, verb],
      cwd: this.repository.path,
      env: this.repository.environment({ CLAUDE_CODE_SESSION_ID: this.#id }),
      input: JSON.stringify({ ...recorded, ...own }),
    };
  }
}

/** Turns recording on and waits for the background work that follows. */
export function enable(executable: string, repository: Repository, agent = "claude-code"): void {
  const common = { program: executable, cwd: repository.path, env: repository.environment() };
  timed({ ...common, args: ["enable", "--agent", agent] });
}

/** Runs the worker's tasks now, so that they do not disturb the measurement later. */
export function settle(executable: string, repository: Repository): void {
  timed({
    program: executable,
    args: ["worker", repository.path],
    cwd: repository.path,
    env: repository.environment(),
  });
}

/** Counts the recorded steps: a hook that fails prints nothing, and would look like a fast one. */
export function countSteps(repository: Repository): number {
  const list = readFileSync(join(repository.path, ".git", "backtrail", "steps.jsonl"), "utf8");
  return list.split("\n").length - 1;
}

/** Times the hook at a turn's start; the rest of the turn follows. */
export function turnStart(session: BenchSession, change: () => void): Contender {
  return {
    prepare: change,
    run: () => {
      const time = timed(session.prompt());
      session.answer();
      timed(session.stop());
      return time;
    },
  };
}

/** Times the hook at the end of a turn that makes the change. */
export function turnEnd(session: BenchSession, change: () => void): Contender {
  return {
    prepare: () => {
      timed(session.prompt());
      session.answer();
      change();
    },
    run: () => timed(session.stop()),
  };
}
