/** Writes output files that the user names. Never replaces an existing file unless the user allows it. */
import { closeSync, constants, openSync, realpathSync, statSync } from "node:fs";
import { codeOf, UserError } from "../../base/errors.ts";
import { removeFile, writeAll, writeFileAtomic } from "../../base/fs/files.ts";
import { shownPath } from "../../base/text.ts";

/** Conversations and findings are private until the user passes them on. */
const PRIVATE_MODE = 0o600;

/** Refuses early, before the content is created. `writeOutput` checks again, atomically. */
export function requireFree(path: string, overwrite: boolean | undefined): void {
  if (!overwrite && isReplaceable(path)) throw alreadyExists(path);
}

/** Writes the file, or throws without changing an existing one. */
export function writeOutput(path: string, text: string, overwrite: boolean | undefined): void {
  try {
    if (!isReplaceable(path)) create(path, text);
    else if (!overwrite) throw alreadyExists(path);
    // Keep the user's symbolic link, and replace the file that it points to.
    else writeFileAtomic(realpathSync(path), text, { mode: statSync(path).mode & 0o777 });
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (codeOf(error) === "EEXIST") throw alreadyExists(path);
    throw new UserError("failed", `${shownPath(path)} can't be written (${codeOf(error) ?? String(error)}).`);
  }
}

function isReplaceable(path: string): boolean {
  return !isDevice(path) && statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** `/dev/stdout` and the like contain nothing to replace. A pipe elsewhere may belong to anyone. */
function isDevice(path: string): boolean {
  return path.startsWith("/dev/") && statSync(path, { throwIfNoEntry: false })?.isFile() === false;
}

function create(path: string, text: string): void {
  const isNew = !isDevice(path);
  // Exclusive: write neither to a file that appeared meanwhile nor through a dangling link.
  const flags = constants.O_WRONLY | (isNew ? constants.O_CREAT | constants.O_EXCL : 0);
  const fd = openSync(path, flags, PRIVATE_MODE);
  try {
    writeAll(fd, Buffer.from(text));
  } catch (error) {
    if (isNew) removeFile(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function alreadyExists(path: string): UserError {
  return new UserError("refused", `${shownPath(path)} already exists.`, "Use --yes to overwrite it.");
}
