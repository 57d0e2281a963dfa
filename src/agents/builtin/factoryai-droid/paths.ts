/** Paths of Droid's transcripts, and the parent session that a transcript's first line names. */
import { readRange, withFile } from "../../../transcripts/file-bytes.ts";
import { readLine } from "./transcript.ts";

const MAX_HEAD_BYTES = 64 * 1024;
const SESSION_ID = /^[0-9A-Za-z][0-9A-Za-z-]{0,63}$/;

/** Slashes become hyphens; nothing else changes. */
export function projectDirectoryName(directory: string): string {
  return directory.replace(/[/\\]/g, "-");
}

/** The session that this one was forked or compacted from. */
export function parentSession(path: string): string | null {
  const line = withFile(path, (fd, size) => {
    const head = readRange(fd, 0, Math.min(size, MAX_HEAD_BYTES));
    const end = head.indexOf(10);
    return end < 0 ? null : readLine(head, { start: 0, end });
  });
  return line?.type === "head" && line.parent !== null && SESSION_ID.test(line.parent) ? line.parent : null;
}
