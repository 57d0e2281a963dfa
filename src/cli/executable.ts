/** The path by which hooks call us. */
import { realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

/**
 * The running executable; where PATH leads to it by another name, that name, since it stays the same when the
 * next version is installed somewhere else.
 */
export function ownExecutable(): string {
  // Linux says so of a program that was replaced while it runs, by an update: the new one is in its place.
  const running = realpathOf(process.execPath) ?? realpathSync(process.execPath.replace(/ \(deleted\)$/, ""));
  const extension = process.platform === "win32" ? ".exe" : "";
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, `backtrail${extension}`);
    if (realpathOf(candidate) === running) return candidate;
  }
  // The drop-in `aiwr` is the same program beside it.
  return basename(running).startsWith("aiwr") ? join(dirname(running), `backtrail${extension}`) : running;
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
