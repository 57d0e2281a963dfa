/** Redacts text line by line. A secret that spans lines leaves empty lines, so that line numbers stay the same. */
import type { Redactor } from "./redactor.ts";

type Options = Parameters<Redactor["redact"]>[1];

const NEWLINE = 10;

export function redactLines(redactor: Redactor, text: string, options: Options): string[] {
  const { found } = redactor.redact(text, { ...options, format: "text" });
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
}
