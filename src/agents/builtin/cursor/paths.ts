/** Finds the transcript of a Cursor conversation, because Cursor's command line does not report its path. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { homeDirectory } from "../../../base/paths.ts";

/** Searches all layouts that Cursor has used; null if there is no transcript. */
export function findTranscript(projectRoot: string, sessionId: string): string | null {
  if (!/^[A-Za-z0-9-]{1,100}$/.test(sessionId)) return null;
  const home = homeDirectory();
  const name = projectRoot.replace(/[^A-Za-z0-9]+/g, "-");
  for (const project of [name.replace(/^-/, ""), name]) {
    const directory = join(home, ".cursor", "projects", project, "agent-transcripts");
    for (const file of [join(directory, sessionId, `${sessionId}.jsonl`), join(directory, `${sessionId}.jsonl`)]) {
      if (existsSync(file)) return file;
    }
  }
  return null;
}
