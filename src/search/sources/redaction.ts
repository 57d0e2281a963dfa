/** Removes secrets from text before it is indexed. */
import { loadConfig } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import { PlaceholderTable } from "../../transcripts/redact/placeholders.ts";
import { createRedactor, type Redacted, type Redactor } from "../../transcripts/redact/redactor.ts";

export interface IndexRedaction {
  /** Redacts whole lines of a transcript, or a whole document. */
  transcript(bytes: Buffer, format: "jsonl" | "json"): { bytes: Buffer; originalOffset(offset: number): number };
  text(text: string): string;
}

/** With the rules of the user, and of the workspace if the text belongs to one. */
export async function openIndexRedaction(workspace: Workspace | undefined): Promise<IndexRedaction> {
  const redactor: Redactor = await createRedactor(loadConfig(workspace ?? null).redaction);
  const placeholders = new PlaceholderTable();
  return {
    transcript(bytes, format) {
      const redacted = redactor.redact(bytes, { placeholders, format });
      return { bytes: redacted.bytes, originalOffset: (offset) => originalOffset(redacted.found, offset) };
    },
    text: (text) => redactor.redact(text, { placeholders, format: "text" }).bytes.toString("utf8"),
  };
}

/** The offset in the input of an offset in the output that is not inside of a placeholder. */
function originalOffset(found: Redacted["found"], offset: number): number {
  let shift = 0;
  for (const { start, end, placeholder } of found) {
    if (start >= offset + shift) break;
    shift += end - start - Buffer.byteLength(placeholder);
  }
  return offset + shift;
}
