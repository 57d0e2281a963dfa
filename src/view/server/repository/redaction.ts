/** Removes secrets from what the page shows. The placeholders exist only in this process. */
import { loadConfig } from "../../../config/load.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { PlaceholderTable } from "../../../transcripts/redact/placeholders.ts";
import { createRedactor } from "../../../transcripts/redact/redactor.ts";

export interface Redaction {
  text(text: string): string;
  /** The lines of a text. A secret of several lines leaves empty lines, so that line numbers stay the same. */
  lines(text: string): string[];
}

export const NO_REDACTION: Redaction = { text: (text) => text, lines: (text) => text.split("\n") };

const NEWLINE = 10;

export async function createRedaction(workspace: Workspace): Promise<Redaction> {
  const redactor = await createRedactor(loadConfig(workspace).redaction);
  const placeholders = new PlaceholderTable();
  const redact = (text: string) => redactor.redact(text, { placeholders, format: "text" });
  return {
    text: (text) => (text === "" ? text : redact(text).bytes.toString("utf8")),
    lines(text) {
      const { found } = redact(text);
      if (found.length === 0) return text.split("\n");
      const bytes = Buffer.from(text);
      const parts: string[] = [];
      let at = 0;
      for (const { start, end, placeholder } of found.toSorted((a, b) => a.start - b.start)) {
        if (start < at) continue;
        const newlines = bytes.subarray(start, end).filter((byte) => byte === NEWLINE).length;
        parts.push(bytes.toString("utf8", at, start), placeholder, "\n".repeat(newlines));
        at = end;
      }
      return [...parts, bytes.toString("utf8", at)].join("").split("\n");
    },
  };
}
