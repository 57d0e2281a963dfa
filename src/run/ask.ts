/**
 * Asks an agent one question outside of any session: without tools, in an empty directory, with a timeout, neither
 * logged nor recorded. The question may quote untrusted text, so agents that cannot run without tools are never asked.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newSessionId } from "../base/ids.ts";
import { oneLine } from "../base/text.ts";
import { type Runner, runners } from "./agents.ts";
import { AgentProcess } from "./child.ts";
import { commandOf } from "./command.ts";
import { PARENT_VARIABLE, RUN_VARIABLE, SESSION_VARIABLE } from "./parent.ts";
import { RunError } from "./problems.ts";
import { RunResult } from "./result.ts";
import { LineSplitter } from "./stream.ts";

export interface Question {
  runner: Runner;
  program: string;
  text: string;
  model: string | null;
  timeoutMs: number;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Silences our hooks. */
const SILENT = { BACKTRAIL_HOOKS: "off" };

export async function requireAskable(runner: Runner): Promise<void> {
  if (runner.run.ask) return;
  const names = (await runners()).filter(({ run }) => run.ask).map(({ name }) => name);
  throw new RunError("usage", { kind: "not-askable", name: runner.name, names });
}

/** Returns the agent's answer. `onStart` receives a function that stops the agent. */
export async function ask(question: Question, onStart?: (stop: () => void) => void): Promise<string> {
  const { runner, program, text, model, timeoutMs } = question;
  const cwd = mkdtempSync(join(tmpdir(), "backtrail-ask-"));
  try {
    const run = { ...runner.run, command: runner.run.ask ?? [], new_session: undefined };
    const asked = { prompt: text, model, session: null, newSession: newSessionId(), context: null, args: [] };
    const { args, input } = commandOf(run, asked);
    const result = new RunResult(runner.run.stream);
    const lines = new LineSplitter({ line: (value) => void result.take(value), tooLong() {} });
    const agent = new AgentProcess({
      program,
      args,
      cwd,
      env: environmentFor(question),
      input,
      output: (chunk) => lines.push(chunk),
      errors() {},
    });
    onStart?.(() => agent.stop("SIGINT"));
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      agent.stop("SIGINT");
    }, timeoutMs);
    const { code, stderr } = await agent.ended;
    clearTimeout(timer);
    lines.end();
    if (late) throw new RunError("failed", { kind: "no-answer-in-time", name: runner.name, seconds: timeoutMs / 1000 });
    if (code === 0 && result.status === "completed") return result.text;
    const reason = oneLine(result.failure ?? stderr.trim().split("\n").at(-1) ?? "");
    throw new RunError("failed", { kind: "no-answer", name: runner.name, reason });
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function environmentFor({ environment }: Question): Record<string, string | undefined> {
  return {
    ...environment,
    ...SILENT,
    [SESSION_VARIABLE]: undefined,
    [RUN_VARIABLE]: undefined,
    [PARENT_VARIABLE]: undefined,
  };
}
