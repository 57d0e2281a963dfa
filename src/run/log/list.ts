/** Renders the run tree as lines for `--list`. */
import { oneLine, shorten } from "../../base/text.ts";
import type { RunNode } from "./tree.ts";

const MAX_PROMPT = 80;

export function listLines(nodes: readonly RunNode[]): string[] {
  const lines: string[] = [];
  let date: string | null = null;
  for (const node of nodes) {
    if (node.date !== date) {
      if (date !== null) lines.push("");
      date = node.date;
      lines.push(`Sessions (${date}):`);
    }
    addRows(node, 0, lines);
  }
  return lines;
}

function addRows(node: RunNode, depth: number, lines: string[]): void {
  const indent = depth === 0 ? "  " : `${"  ".repeat(depth + 1)}└─ `;
  const prompt = shorten(safe(node.prompt), MAX_PROMPT);
  lines.push(`${indent}${node.id}  [${safe(node.agent)}]  [${node.status}]  "${prompt}"`);
  for (const child of node.children) addRows(child, depth + 1, lines);
}

/** Skips the slow path for plain ASCII: there may be thousands of texts. */
function safe(text: string): string {
  return /^[ -~]*$/.test(text) ? text : oneLine(text);
}
