/** The command of a run, from what the profile says: which words, in which places, and what goes to standard input. */

import type { RunSection } from "../agents/profile.ts";
import { UserError } from "../base/errors.ts";

/** Linux takes no longer argument than 128 KiB. */
const LONGEST_ARGUMENT = 128 * 1024 - 1;

export interface Ask {
  prompt: string;
  model: string | null;
  /** The session to continue. */
  session: string | null;
  /** The id that a new session is to get, if the agent takes one. */
  newSession: string;
  /** What the agent is to know before the prompt. */
  context: string | null;
  /** The user's own words for the agent. */
  args: readonly string[];
}

export interface Command {
  args: string[];
  /** Null: nothing, and closed. */
  input: string | null;
  /** The session's id, where it is known beforehand. */
  session: string | null;
}

export function commandOf(run: RunSection, ask: Ask): Command {
  const chosen = ask.session === null && takesId(run, ask.args) ? ask.newSession : null;
  const session = ask.session ?? chosen;
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

/** The model that the user's own words name, if they do. */
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

/** In one pass, so that a prompt that speaks of `{session}` stays as it is. */
function filled(word: string, values: Record<string, string>): string {
  return word.replace(/\{(prompt|model|session|context)\}/g, (_, name: string) => values[name] ?? "");
}

function requireRoom(args: readonly string[]): void {
  if (args.some((word) => word.includes("\0"))) {
    throw new UserError("usage", "There is a NUL byte in the prompt, and the system passes none on.", "Is it a text?");
  }
  const longest = Math.max(...args.map((word) => Buffer.byteLength(word)));
  if (longest <= LONGEST_ARGUMENT) return;
  throw new UserError(
    "usage",
    `The prompt is too long: ${longest} bytes, and the system passes on ${LONGEST_ARGUMENT}.`,
    "Put it into a file, and ask the agent to read that.",
  );
}
