/** The one way into a checkpoint: whatever is written there has gone through here. */
import { hexDigest } from "../base/digest.ts";
import { version } from "../base/version.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { isTracked } from "../git/tracked.ts";
import type { Workspace } from "../git/workspace.ts";
import { createRedactor } from "../transcripts/redact/redactor.ts";
import { openVault } from "../transcripts/redact/vault.ts";

export interface Redaction {
  /** Differs where the same input may come out differently. */
  version: string;
  /** Whole lines of a transcript, or a whole one that is no JSONL. */
  transcript(bytes: Uint8Array): Uint8Array;
  text(text: string): string;
}

export async function openRedaction(workspace: Workspace): Promise<Redaction> {
  const { redaction } = loadConfig(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
  const redactor = await createRedactor(redaction);
  const placeholders = openVault(workspace.storeDir);
  return {
    version: redactionVersion(redaction),
    transcript: (bytes) => redactor.redact(bytes, { placeholders }).bytes,
    text: (text) => redactor.redact(text, { placeholders, format: "text" }).bytes.toString("utf8"),
  };
}

export function redactionVersion({ rules, allow }: Config["redaction"]): string {
  return hexDigest("sha256", JSON.stringify([version, rules, allow])).slice(0, 16);
}
