/** Builds the command line and the standard input of a run from the agent's profile. */

import type { RunSection } from "../agents/contract/profile.ts";
import { isCommandWord } from "../base/ids.ts";
import { RunError } from "./problems.ts";

/** Linux limits a single argument to 128 KiB. */
const MAX_ARGUMENT = 128 * 1024 - 1;

export interface Ask {
  prompt: string;
  model: string | null;
  /** The session to continue. */
  session: string | null;
  /** The id for a new session, if the agent accepts one. */
  newSession: string;
  /** Context that the agent receives before the prompt. */
  context: string | null;
  /** Extra arguments from the user. */
  args: readonly string[];
}

export interface Command {
  args: string[];
  /** Null closes standard input without writing to it. */
  input: string | null;
  /** The session's id, if it is known before the run. */
  session: string | null;
}

export function commandOf(run: RunSection, ask: Ask): Command {
  const chosen = ask.session === null && takesId(run, ask.args) ? ask.newSession : null;
  const session = ask.session ?? chosen;
  if (session !== null && !isCommandWord(session)) {
    throw new RunError("refused", { kind: "session-id-invalid", session });
  }
  if (ask.session !== null && !run.resume) {
    throw new RunError("usage", { kind: "resume-unsupported-by-run" });
  }
  const sessionWords = ask.session !== null ? run.resume : chosen !== null ? run.new_session?.words : undefined;
  const prompt = ask.context !== null && !run.context ? `${ask.context}\n\n${ask.prompt}` : ask.prompt;
  const places: Record<string, string[]> = {
    "{model}": ask.model !== null && modelIn(run, ask.args) === null ? (run.model?.words ?? []) : [],
    "{session}": sessionWords ?? [],
    "{context}": ask.context !== null ? (run.context ?? []) : [],
  };
  const values = { prompt, model: ask.model ?? "", session: session ?? "", context: ask.context ?? "" };
  const args = run.command.flatMap((word) => {
    if (word === "{args}") return ask.args;
    return (places[word] ?? [word]).map((part) => filled(part, values));
  });
  requireRoom(args);
  return { args, input: run.stdin === true ? prompt : null, session };
}

/** The model that the user's extra arguments name, if any. */
export function modelIn(run: RunSection, args: readonly string[]): string | null {
  for (const flag of run.model?.flags ?? []) {
    const at = args.indexOf(flag);
    if (at >= 0) return args[at + 1] ?? null;
    const joined = args.find((word) => flag.startsWith("--") && word.startsWith(`${flag}=`));
    if (joined !== undefined) return joined.slice(flag.length + 1);
  }
  return null;
}

function takesId(run: RunSection, args: readonly string[]): boolean {
  const { new_session } = run;
  if (!new_session) return false;
  return !args.some((word) => new_session.unless?.includes(word.split("=", 1)[0] ?? word));
}

/** Substitutes in one pass, so that a literal `{session}` in a prompt is not replaced. */
function filled(word: string, values: Record<string, string>): string {
  return word.replace(/\{(prompt|model|session|context)\}/g, (_, name: string) => values[name] ?? "");
}

function requireRoom(args: readonly string[]): void {
  if (args.some((word) => word.includes("\0"))) {
    throw new RunError("usage", { kind: "prompt-has-nul" });
  }
  const longest = Math.max(...args.map((word) => Buffer.byteLength(word)));
  if (longest <= MAX_ARGUMENT) return;
  throw new RunError("usage", { kind: "prompt-too-long", bytes: longest, limit: MAX_ARGUMENT });
}
