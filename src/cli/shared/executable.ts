/** Finds the path by which hooks call us. */
import { realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

/**
 * Returns the running executable. Prefers the path by which PATH leads to it, because that path stays the same when the
 * next version is installed elsewhere.
 */
export function ownExecutable(): string {
  // Linux appends " (deleted)" if an update replaced the running program; the new program has the original path.
  const running = realpathOf(process.execPath) ?? realpathSync(process.execPath.replace(/ \(deleted\)$/, ""));
  const extension = process.platform === "win32" ? ".exe" : "";
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, `backtrail${extension}`);
    if (realpathOf(candidate) === running) return candidate;
  }
  // The drop-in `aiwr` is the same program, installed beside `backtrail`.
  return basename(running).startsWith("aiwr") ? join(dirname(running), `backtrail${extension}`) : running;
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
