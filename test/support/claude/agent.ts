/**
 * A scripted Claude Code: it does what it is told, writes the transcript that the real one would write, and runs
 * the hooks in its settings at the same moments. It needs neither a network nor a model.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Result } from "../binary.ts";
import { minute } from "../environment.ts";
import type { TemporaryRepository } from "../repository.ts";
import { runHooks } from "./hooks.ts";
import { MODEL, ScriptedTranscript } from "./transcript.ts";

/** What the agent does in a turn, in the words of its tools. */
export type AgentAction =
  | { tool: "Write"; path: string; content: string }
  | { tool: "Edit"; path: string; old: string; new: string }
  | { tool: "Bash"; command: string };

export function write(path: string, content: string): AgentAction {
  return { tool: "Write", path, content };
}

export function edit(path: string, old: string, fresh: string): AgentAction {
  return { tool: "Edit", path, old, new: fresh };
}

export function bash(command: string): AgentAction {
  return { tool: "Bash", command };
}

export class ScriptedClaude {
  readonly session: string;
  readonly transcript: ScriptedTranscript;
  /** What the hooks answered so far, with the event that each answered to. */
  readonly answers: { event: string; result: Result }[] = [];
  /** The fixed time of the hooks, in minutes; the real time if it is undefined. */
  minute: number | undefined;
  readonly #repository: TemporaryRepository;
  #prompt = "";
  #tools = 0;

  constructor(repository: TemporaryRepository, session: string = randomUUID()) {
    this.#repository = repository;
    this.session = session;
    this.transcript = new ScriptedTranscript(repository.home, repository.path, session);
  }

  async start(source = "startup"): Promise<void> {
    await this.#hook("SessionStart", source, { source, model: MODEL });
  }

  /** One whole turn: the prompt, the deeds, the answer. */
  async turn(prompt: string, deeds: AgentAction[], answer = "Done."): Promise<void> {
    await this.begin(prompt);
    for (const deed of deeds) await this.act(deed);
    await this.finish(answer);
  }

  /** A prompt; without `finish` the turn was interrupted, and no hook tells of it. */
  async begin(prompt: string): Promise<void> {
    this.#prompt = randomUUID();
    await this.#hook("UserPromptSubmit", "", { prompt });
    this.transcript.user(prompt, this.#prompt);
  }

  async act(deed: AgentAction): Promise<void> {
    this.#tools += 1;
    const id = `toolu_scripted_${this.session.slice(0, 8)}_${this.#tools}`;
    const input = this.#inputOf(deed);
    const tool = { tool_name: deed.tool, tool_input: input, tool_use_id: id };
    this.transcript.assistant([{ type: "tool_use", id, name: deed.tool, input }]);
    await this.#hook("PreToolUse", deed.tool, tool);
    const response = this.#perform(deed);
    const content = [{ type: "tool_result", tool_use_id: id, content: "ok" }];
    this.transcript.user(content, this.#prompt, { toolUseResult: response });
    await this.#hook("PostToolUse", deed.tool, { ...tool, tool_response: response, duration_ms: 1 });
  }

  async finish(answer = "Done."): Promise<void> {
    this.transcript.assistant([{ type: "text", text: answer }]);
    await this.#hook("Stop", "", { stop_hook_active: false, last_assistant_message: answer });
  }

  async end(reason = "prompt_input_exit"): Promise<void> {
    await this.#hook("SessionEnd", reason, { reason });
  }

  #inputOf(deed: AgentAction): Record<string, unknown> {
    if (deed.tool === "Bash") return { command: deed.command, description: "Run a command" };
    const path = this.#repository.at(deed.path);
    if (deed.tool === "Write") return { file_path: path, content: deed.content };
    return { file_path: path, old_string: deed.old, new_string: deed.new, replace_all: false };
  }

  #perform(deed: AgentAction): Record<string, unknown> {
    if (deed.tool === "Bash") {
      const options = { cwd: this.#repository.path, env: this.#repository.environment(), encoding: "utf8" } as const;
      const stdout = execFileSync("/bin/sh", ["-c", deed.command], options);
      return { stdout, stderr: "", interrupted: false, isImage: false };
    }
    const filePath = this.#repository.at(deed.path);
    const originalFile = existsSync(filePath) ? readFileSync(filePath, "utf8") : null;
    mkdirSync(dirname(filePath), { recursive: true });
    if (deed.tool === "Write") {
      writeFileSync(filePath, deed.content);
      const type = originalFile === null ? "create" : "update";
      return { type, filePath, content: deed.content, structuredPatch: [], originalFile, userModified: false };
    }
    if (!originalFile?.includes(deed.old)) throw new Error(`${deed.path} does not hold what was to be replaced.`);
    writeFileSync(
      filePath,
      originalFile.replace(deed.old, () => deed.new),
    );
    const strings = { oldString: deed.old, newString: deed.new, replaceAll: false };
    return { filePath, ...strings, originalFile, structuredPatch: [], userModified: false };
  }

  async #hook(event: string, subject: string, fields: Record<string, unknown>): Promise<void> {
    const clock = this.minute === undefined ? {} : { BACKTRAIL_CLOCK: minute(this.minute) };
    const payload = {
      session_id: this.session,
      transcript_path: this.transcript.path,
      cwd: this.#repository.path,
      ...(this.#prompt ? { prompt_id: this.#prompt, permission_mode: "acceptEdits" } : {}),
      hook_event_name: event,
      ...fields,
    };
    const env = this.#repository.environment({ ...clock, CLAUDE_CODE_SESSION_ID: this.session });
    const place = { project: this.#repository.path, home: this.#repository.home, env };
    for (const result of await runHooks(place, event, subject, payload)) this.answers.push({ event, result });
  }
}
