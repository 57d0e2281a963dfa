/** What the forks of several agents have in common: their ids, their titles, where they lie. */
import { basename, dirname, join } from "node:path";
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

/** With the prefix once, even for a fork of a fork. */
export function forkTitle(title: string, prefix: string): string {
  const mark = prefix.trim();
  let bare = oneLine(title);
  while (mark !== "" && bare.startsWith(mark)) bare = bare.slice(mark.length).trim();
  return shorten(`${prefix}${bare}`, TITLE_LENGTH).trim();
}

/** Beside the original, unless the fork is for another work tree, whose directory has the name `wanted`. */
export function forkDirectory(request: ForkRequest, wanted: string): string {
  const directory = dirname(request.transcriptPath);
  const own = basename(directory);
  return own === wanted || own.startsWith(`${wanted}-`) ? directory : join(dirname(directory), wanted);
}
