/** What the forks of several agents have in common: their ids, their titles, where they lie. */
import { basename, dirname, join } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { messageOf, UserError } from "../base/errors.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "./agent.ts";

const TITLE_LENGTH = 80;

/** The only way to a fork: what a transcript holds may be anything, so an adapter that stumbles over it says so in words. */
export function forkOf(forker: TranscriptForker, request: ForkRequest): ForkResult {
  try {
    return forker.fork(request);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      "failed",
      `The conversation can't be copied: ${messageOf(error)}`,
      "`--code-only` restores the files without it.",
    );
  }
}

/** `kind` is what the agent calls it, with its own name: "Droid session". */
export function demandId(id: string, pattern: RegExp, kind: string): void {
  if (pattern.test(id)) return;
  throw new UserError("failed", `"${shorten(oneLine(id), 40)}" can't be the id of a ${kind}.`);
}

/** With the prefix once, even for a fork of a fork; a session that goes on as itself keeps its title. */
export function forkTitle({ title, continued }: Pick<ForkRequest, "title" | "continued">, prefix: string): string {
  if (continued) return shorten(oneLine(title), TITLE_LENGTH);
  const mark = prefix.trim();
  let bare = oneLine(title);
  while (mark !== "" && bare.startsWith(mark)) bare = bare.slice(mark.length).trim();
  return shorten(`${prefix}${bare}`, TITLE_LENGTH).trim();
}

/** An id for an entry that is added to a fork, the same whenever that fork is made. */
export function addedId({ newSessionId }: ForkRequest, account: string): string {
  const hex = hexDigest("sha256", `${newSessionId}\0${account}`);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
}

/** An entry that is added to a fork, as a line of its own. */
export function addedLine(entry: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(entry)}\n`);
}

/** Beside the original, unless the fork is for another work tree, whose directory has the name `wanted`. */
export function forkDirectory(request: ForkRequest, wanted: string): string {
  const directory = dirname(request.transcriptPath);
  const own = basename(directory);
  return own === wanted || own.startsWith(`${wanted}-`) ? directory : join(dirname(directory), wanted);
}
