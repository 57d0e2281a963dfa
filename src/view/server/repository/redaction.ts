/** Removes secrets from what the page shows. The placeholders exist only in this process. */
import { loadConfig } from "../../../config/load.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { redactLines } from "../../../transcripts/redact/lines.ts";
import { PlaceholderTable } from "../../../transcripts/redact/placeholders.ts";
import { createRedactor } from "../../../transcripts/redact/redactor.ts";

export interface Redaction {
  text(text: string): string;
  /** The lines of a text. A secret of several lines leaves empty lines, so that line numbers stay the same. */
  lines(text: string): string[];
}

export const NO_REDACTION: Redaction = { text: (text) => text, lines: (text) => text.split("\n") };

export async function createRedaction(workspace: Workspace): Promise<Redaction> {
  const redactor = await createRedactor(loadConfig(workspace).redaction);
  const placeholders = new PlaceholderTable();
  return {
    text: (text) =>
      text === "" ? text : redactor.redact(text, { placeholders, format: "text" }).bytes.toString("utf8"),
    lines: (text) => redactLines(redactor, text, { placeholders }),
  };
}
