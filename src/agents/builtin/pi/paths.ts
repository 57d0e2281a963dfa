/** Paths of Pi's sessions for a working directory. */
import { basename, dirname, join } from "node:path";

/** Beside the original, unless the original is in another project's directory that the user did not choose. */
export function sessionDirectory(transcriptPath: string, cwd: string): string {
  const directory = dirname(transcriptPath);
  const isUsual = /^--.*--$/.test(basename(directory));
  return isUsual ? join(dirname(directory), directoryName(cwd)) : directory;
}

export function directoryName(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
}

export function fileName(sessionId: string, time: Date): string {
  return `${time.toISOString().replace(/[:.]/g, "-")}_${sessionId}.jsonl`;
}
