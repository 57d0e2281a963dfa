/**
 * A question to an agent that is nobody's session: without tools, in an empty directory, neither logged nor recorded, and with an
 * end. What it is asked about may be anybody's words, so an agent that can't do without tools isn't asked.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { newSessionId } from "../base/ids.ts";
import { oneLine, shorten } from "../base/text.ts";
import { type Runner, runners } from "./agents.ts";
import { AgentProcess } from "./child.ts";
import { commandOf } from "./command.ts";
import { PARENT_VARIABLE, RUN_VARIABLE, SESSION_VARIABLE } from "./parent.ts";
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

/** Makes hooks of ours silent. */
const SILENT = { BACKTRAIL_HOOKS: "off" };

export async function requireAskable(runner: Runner): Promise<void> {
  if (runner.run.ask) return;
  const names = (await runners()).filter(({ run }) => run.ask).map(({ name }) => name);
  throw new UserError(
    "usage",
    `${runner.name} can't be asked without tools that change things, and what it would be given may be anybody's words.`,
    `These can: ${names.join(", ")}.`,
  );
}

/** What it answers. `onStart` is given what ends it. */
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
    if (late) throw new UserError("failed", `${runner.name} did not answer within ${timeoutMs / 1000} s.`);
    if (code === 0 && result.status === "completed") return result.text;
    const reason = oneLine(result.failure ?? stderr.trim().split("\n").at(-1) ?? "");
    throw new UserError("failed", `${runner.name} gave no answer${reason === "" ? "." : `: ${shorten(reason, 300)}`}`);
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
