/**
 * Asks the user questions on the terminal. Without a terminal the command fails and names the flag that answers
 * instead. A terminal that cannot move its cursor gets plain lines.
 */
import { UserError } from "../../base/errors.ts";
import type { Io } from "./io.ts";

/** Returns true for yes. `flag` is the option that answers the question. */
export async function confirm(io: Io, question: string, flag: string): Promise<boolean> {
  if (!io.interactive) throw needsAnswer(question, flag);
  if (io.dumb) return /^y(es)?$/i.test(await askLine(`${question} [y/N] `));
  const { confirm: ask, isCancel } = await import("@clack/prompts");
  const answer = await ask({ message: question, initialValue: false, output: process.stderr });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

/** Reads one line from the terminal. */
export async function askLine(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const stop = new AbortController();
  reader.once("SIGINT", () => stop.abort());
  reader.once("close", () => stop.abort());
  try {
    return (await reader.question(question, { signal: stop.signal })).trim();
  } catch {
    throw interrupted();
  } finally {
    reader.close();
  }
}

export function interrupted(): UserError {
  return new UserError("interrupted", "Stopped. Nothing was changed.");
}

function needsAnswer(question: string, flag: string): UserError {
  return new UserError("usage", `Not a terminal, so "${question}" can't be asked.`, `Give ${flag}.`);
}
