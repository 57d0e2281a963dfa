/** Contents: made so that each occurs only once, and told apart by the id that git gives to a blob of the same bytes. */
import { createHash } from "node:crypto";
import type { Random } from "../fuzz/random.ts";

export function blobId(content: string | Uint8Array): string {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** By the id of a content with other line endings than git keeps: the id of the content that git would keep. */
const normalized = new Map<string, string>();

/** The id of a file's bytes; remembers under which id git may keep them. */
export function fileId(bytes: Uint8Array): string {
  const id = blobId(bytes);
  if (!normalized.has(id) && bytes.includes(13)) {
    const text = Buffer.from(bytes).toString("latin1").replaceAll("\r\n", "\n");
    normalized.set(id, blobId(Buffer.from(text, "latin1")));
  }
  return id;
}

/** What git keeps of a content, as far as line endings go. */
export function keptBytes(id: string): string {
  return normalized.get(id) ?? id;
}

/** A word that nobody else writes. */
export function token(random: Random): string {
  const part = () =>
    random
      .below(2 ** 28)
      .toString(36)
      .padStart(6, "0");
  return `k${part()}${part()}`;
}

export function text(random: Random): string {
  return `${Array.from({ length: 4 + random.below(6) }, () => token(random)).join("\n")}\n`;
}

/** The same text with one line replaced, added or taken out, so that changes to one file can be merged. */
export function edited(old: string, random: Random): string {
  const lines = old.split("\n").slice(0, -1);
  if (lines.length < 2) return `${old}${token(random)}\n`;
  const at = random.below(lines.length);
  switch (random.below(4)) {
    case 0:
      lines.splice(at, 0, token(random));
      break;
    case 1:
      // Something must be new in it, or it would be no content of its own.
      lines.splice(at, 1);
      lines.push(token(random));
      break;
    default:
      lines[at] = token(random);
  }
  return `${lines.join("\n")}\n`;
}
