/** Where Cursor keeps the transcript of a conversation: its command line doesn't say. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The file, in any of the layouts that there have been; null where there is none. */
export function findTranscript(projectRoot: string, sessionId: string): string | null {
  if (!/^[A-Za-z0-9-]{1,100}$/.test(sessionId)) return null;
  const home = process.env["HOME"] || homedir();
  const name = projectRoot.replace(/[^A-Za-z0-9]+/g, "-");
  for (const project of [name.replace(/^-/, ""), name]) {
    const directory = join(home, ".cursor", "projects", project, "agent-transcripts");
    for (const file of [join(directory, sessionId, `${sessionId}.jsonl`), join(directory, `${sessionId}.jsonl`)]) {
      if (existsSync(file)) return file;
    }
  }
  return null;
}
