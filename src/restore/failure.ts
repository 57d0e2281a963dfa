/** Why a file could not be restored, in words. */
import { codeOf, UserError } from "../base/errors.ts";
import { shownPath } from "../base/text.ts";

const WORDS: Record<string, [string, string]> = {
  EACCES: ["permission denied", "Make it and its directory writable, then try again."],
  EPERM: ["the operation is not permitted", "Make it and its directory writable, then try again."],
  EROFS: ["the file system is read-only", "Make it writable, then try again."],
  ENOSPC: ["the disk is full", "Free some space, then try again."],
  EFBIG: ["it is larger than a file may be here", "Raise the limit (ulimit -f), or leave it out with --paths."],
  EDQUOT: ["the disk quota is used up", "Free some space, then try again."],
  ENAMETOOLONG: ["the name is too long for this file system", "Leave it out with --paths."],
};

export function failure(path: string, thrown: unknown): UserError {
  const code = codeOf(thrown) ?? "";
  const [what, hint] = WORDS[code] ?? [thrown instanceof Error ? thrown.message : String(thrown), undefined];
  return new UserError("failed", `${shownPath(path)} could not be restored: ${what}.`, hint);
}
