/** Serializes all JSON for stdout and exports, with hidden characters escaped for terminals and reviewers. */
import { escapeHidden } from "../../base/text.ts";

/** One line. */
export function jsonLine(value: unknown): string {
  return `${escapeHidden(JSON.stringify(value))}\n`;
}

/** Indented. */
export function jsonText(value: unknown): string {
  return `${escapeHidden(JSON.stringify(value, null, 2))}\n`;
}
