/** Redacts everything that is written to a checkpoint. */
import { hexDigest } from "../../base/digest.ts";
import { version } from "../../base/version.ts";
import { type Config, loadConfig } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import { redactLines } from "../../transcripts/redact/lines.ts";
import type { Placeholders, Secret } from "../../transcripts/redact/placeholders.ts";
import { createRedactor, type Redactor, RULES_REVISION } from "../../transcripts/redact/redactor.ts";
import { openVault } from "../../transcripts/redact/vault.ts";

export interface Redaction {
  /** Changes whenever the same input may give a different output. */
  version: string;
  /** Redacts whole lines of a transcript, or a whole transcript that is not JSONL. */
  transcript(bytes: Uint8Array): Uint8Array;
  text(text: string): string;
  /** The lines of a text, as many as before. */
  lines(text: string): string[];
  /** Redacts text that contains already redacted parts: their placeholders stay. */
  again(text: string): string;
  /** Redacts a path, a branch or another chosen name, including values that were found elsewhere. */
  name(name: string): string;
  /** For a session with these files: redacts secrets in their names wherever the names are mentioned. */
  withNames(names: readonly string[]): Redaction;
}

export async function openRedaction(workspace: Workspace): Promise<Redaction> {
  const { redaction } = loadConfig(workspace);
  const redactor = await createRedactor(redaction);
  return makeRedaction(redactor, openVault(workspace.storeDir), redactionVersion(redaction));
}

export function makeRedaction(redactor: Redactor, placeholders: Placeholders, version: string): Redaction {
  const make = (known: readonly Secret[], ownVersion: string): Redaction => {
    const options = { placeholders, known };
    return {
      version: ownVersion,
      transcript: (bytes) => redactor.redact(bytes, options).bytes,
      text: (text) => redactor.redact(text, { ...options, format: "text" }).bytes.toString("utf8"),
      lines: (text) => redactLines(redactor, text, options),
      again: (text) => redactor.redact(text, { ...options, format: "text", again: true }).bytes.toString("utf8"),
      name: (name) => redactor.redactPath(name, { placeholders, known: telling(placeholders) }),
      withNames(names) {
        const found = new Map<string, Secret>();
        for (const name of new Set(names)) {
          for (const secret of redactor.secretsInPath(name, telling(placeholders))) found.set(secret.value, secret);
        }
        if (found.size === 0) return make([], version);
        const secrets = [...found.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
        return make(secrets, `${version}-${hexDigest("sha256", placeholders.assign(secrets).join()).slice(0, 16)}`);
      },
    };
  };
  return make([], version);
}

/**
 * Redacts a session. The conversation can reveal that a part of a name is secret; then the conversation is redacted
 * again, for that name.
 */
export async function redactSession<T>(
  redaction: Redaction,
  names: readonly string[],
  redact: (redaction: Redaction) => T | Promise<T>,
): Promise<T> {
  const before = redaction.withNames(names);
  const result = await redact(before);
  const after = redaction.withNames(names);
  return after.version === before.version ? result : redact(after);
}

/** Values that are distinctive enough: the password `index` must not change every `index.ts`. */
function telling(placeholders: Placeholders): Secret[] {
  return placeholders
    .secrets()
    .filter(
      ({ rule, value }) => rule !== "literal" && /^\S{6,200}$/.test(value) && (/\d/.test(value) || value.length > 9),
    );
}

export function redactionVersion({ rules, allow }: Config["redaction"]): string {
  return hexDigest("sha256", JSON.stringify([version, RULES_REVISION, rules, allow])).slice(0, 16);
}
