/** A repository in which Backtrail records, and a session of Claude Code's that is told by its payloads alone. */
import { expect } from "bun:test";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, type Result, runProgram } from "./binary.ts";
import { MODEL, ScriptedTranscript } from "./claude/transcript.ts";
import { type CommandOptions, type TemporaryRepository, temporaryRepository } from "./repository.ts";

/** The names that hooks are installed under. */
const VERBS: Record<string, string> = {
  SessionStart: "session-start",
  UserPromptSubmit: "user-prompt-submit",
  PreToolUse: "pre-tool-use",
  PostToolUse: "post-tool-use",
  SubagentStop: "subagent-stop",
  Stop: "stop",
  SessionEnd: "session-end",
};

/** Longer than a hook may ever take: what is still running then is killed, and so fails. */
const BOUND_MS = 25_000;

const isRoot = process.getuid?.() === 0;

/** Whether permissions can be tested here: not where root cannot step down, nor where there are none. */
export const permissionsCount = process.platform !== "win32" && (!isRoot || Bun.which("setpriv") !== null);

export interface ShownStep {
  id: string;
  session: string | null;
  agent: string | null;
  kind: string;
  turn: number;
  prompt: string | null;
  files: { added: string[]; modified: string[]; deleted: string[] };
  hasTranscript: boolean;
}

export interface LoggedEntry {
  level: string;
  where: string;
  message: string;
}

export class Recording implements Disposable {
  readonly repository: TemporaryRepository;
  readonly session: string = randomUUID();
  readonly transcript: ScriptedTranscript;

  private constructor(repository: TemporaryRepository) {
    this.repository = repository;
    this.transcript = new ScriptedTranscript(repository.home, repository.path, this.session);
  }

  static async begin(repository: TemporaryRepository = temporaryRepository()): Promise<Recording> {
    const result = await repository.run(["enable", "--agent", "claude-code"]);
    if (result.code === 0) return new Recording(repository);
    repository.remove();
    throw new Error(`enable ended with ${result.code}: ${result.stderr}`);
  }

  get store(): string {
    return this.repository.at(".git", "backtrail");
  }

  payload(event: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      session_id: this.session,
      transcript_path: this.transcript.path,
      cwd: this.repository.path,
      permission_mode: "acceptEdits",
      hook_event_name: event,
      ...fields,
    };
  }

  /** A hook as Claude Code runs it. `input` replaces the payload. */
  hook(event: string, fields: Record<string, unknown> = {}, options: CommandOptions = {}): Promise<Result> {
    const verb = VERBS[event] ?? event;
    return this.repository.run(["hooks", "claude-code", verb], {
      input: JSON.stringify(this.payload(event, fields)),
      timeout: BOUND_MS,
      ...options,
      env: this.variables(options.env),
    });
  }

  /** The same by somebody to whom permissions mean something: root gives up the right to pass over them. */
  hookOfNobody(event: string, fields: Record<string, unknown> = {}): Promise<Result> {
    const command = [executable(), "hooks", "claude-code", VERBS[event] ?? event];
    const without = "-dac_override,-dac_read_search";
    const wrapped = isRoot
      ? ["setpriv", `--bounding-set=${without}`, `--inh-caps=${without}`, "--", ...command]
      : command;
    return runProgram(wrapped[0] ?? "", wrapped.slice(1), {
      cwd: "/",
      env: this.repository.environment(this.variables()),
      input: JSON.stringify(this.payload(event, fields)),
      timeout: BOUND_MS,
    });
  }

  /** What Claude Code gives its hooks. No worker, which would go on after the test. */
  variables(extra: Record<string, string | undefined> = {}): Record<string, string | undefined> {
    return {
      CLAUDE_PROJECT_DIR: this.repository.path,
      CLAUDE_CODE_SESSION_ID: this.session,
      BACKTRAIL_WORKER: "off",
      ...extra,
    };
  }

  /** A prompt and the transcript's line of it. */
  async prompt(text: string): Promise<void> {
    harmless(await this.hook("UserPromptSubmit", { prompt: text }));
    this.transcript.user(text, randomUUID());
  }

  /** The answer in the transcript; then, unless told otherwise, the hook that says so. */
  answer(text: string): Record<string, unknown> {
    this.transcript.assistant([{ type: "text", text }]);
    return { stop_hook_active: false, last_assistant_message: text, model: MODEL };
  }

  /** Newest first, as `log` tells them. */
  async steps(): Promise<ShownStep[]> {
    const { steps } = await this.repository.json<{ steps: ShownStep[] }>(["log"], {
      env: { BACKTRAIL_WORKER: "off" },
    });
    return steps;
  }

  /** The ids of all steps that refs hold: what is true, whatever the lists say. */
  heldSteps(): string[] {
    const refs = this.repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail/sessions");
    const paths = refs
      .split("\n")
      .filter((ref) => ref !== "")
      .flatMap((ref) => this.repository.git("ls-tree", "-r", "-t", "--name-only", ref).split("\n"));
    return paths.flatMap((path) => /^steps\/[^/]+\/([k-z]{12})$/.exec(path)?.[1] ?? []);
  }

  logged(): LoggedEntry[] {
    const file = join(this.store, "log.jsonl");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  /** What unfinished work leaves: locks, journals, temporary files. */
  leftovers(): string[] {
    const names = readdirSync(this.repository.at(".git"), { recursive: true, encoding: "utf8" });
    return names.filter((name) => /\.(lock|tmp|takeover)$|(^|\/)tmp_|journal\/.*\.json$/.test(name));
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

/** A hook never fails its agent, and says nothing that the agent would not understand. */
export function harmless(result: Result): void {
  expect({ code: result.code, signal: result.signal, stderr: result.stderr }).toEqual({
    code: 0,
    signal: null,
    stderr: "",
  });
  if (result.stdout !== "") expect(typeof JSON.parse(result.stdout)).toBe("object");
}
