/** Shared code of the agents' forkers: ids, titles and paths. */
import { basename, dirname, join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { messageOf, UserError } from "../../base/errors.ts";
import { isCommandWord } from "../../base/ids.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../contract/agent.ts";
import type { Profile } from "../contract/profile.ts";
import { resumeCommand } from "./resume.ts";

const TITLE_LENGTH = 80;
const DEFAULT_TITLE_PREFIX = "[Fork] ";

/** The forker of an agent whose copies have a title with the profile's prefix. */
export function forkerOf(
  profile: Profile,
  fork: (request: ForkRequest, prefix: string) => ForkResult,
): TranscriptForker {
  return {
    fork: (request) => fork(request, titlePrefix(profile)),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

/** Every fork goes through here. A transcript may contain anything, so an adapter's exception becomes a UserError. */
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

/** `kind` names what the id identifies, such as "Droid session". */
export function demandId(id: string, pattern: RegExp, kind: string): void {
  if (isCommandWord(id) && pattern.test(id)) return;
  throw new UserError("failed", `"${shorten(oneLine(id), 40)}" can't be the id of a ${kind}.`);
}

export function titlePrefix({ transcript }: Profile): string {
  return transcript?.title_prefix ?? DEFAULT_TITLE_PREFIX;
}

/** Adds the prefix only once, even for a fork of a fork. A continued session keeps its title. */
export function forkTitle({ title, continued }: Pick<ForkRequest, "title" | "continued">, prefix: string): string {
  if (continued) return shorten(oneLine(title), TITLE_LENGTH);
  const mark = prefix.trim();
  let bare = oneLine(title);
  while (mark !== "" && bare.startsWith(mark)) bare = bare.slice(mark.length).trim();
  return shorten(`${prefix}${bare}`, TITLE_LENGTH).trim();
}

/** A deterministic id for an entry that is added to a fork. */
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

/** The JSONL line of an entry that is added to a fork. */
export function addedLine(entry: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(entry)}\n`);
}

/** The original's directory, or its sibling `wanted` if the fork belongs to another work tree. */
export function forkDirectory(request: ForkRequest, wanted: string): string {
  const directory = dirname(request.transcriptPath);
  const own = basename(directory);
  return own === wanted || own.startsWith(`${wanted}-`) ? directory : join(dirname(directory), wanted);
}
