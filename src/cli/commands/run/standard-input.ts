/** Reads a prompt or a file of prompts from standard input if the argument is `-`. */
import { UserError } from "../../../base/errors.ts";
import type { Io } from "../../terminal/io.ts";

export const STANDARD_INPUT = "-";
const MAX_BYTES = 16 * 1024 * 1024;

export async function readStandardInput(io: Io): Promise<string> {
  if (process.stdin.isTTY)
    io.say(io.err.paint("dim", "Type the prompt. End it with Ctrl-D at the beginning of a line."));
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new UserError("usage", "The prompt on stdin is larger than 16 MiB.", "Give a shorter prompt.");
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}

/** Strips the final newline. */
export async function promptFrom(given: string | undefined, io: Io): Promise<string | undefined> {
  if (given !== STANDARD_INPUT) return given;
  const text = (await readStandardInput(io)).trimEnd();
  if (text !== "") return text;
  throw new UserError("usage", "The prompt on stdin is empty.", "`echo fix it | backtrail run -`");
}
