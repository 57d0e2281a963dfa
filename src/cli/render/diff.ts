/** Renders a git diff, escaped for the terminal and colored. */
import { printable } from "../../base/text.ts";
import type { Paint, Style } from "../terminal/io.ts";

export function colorDiff(patch: string, paint: Paint): string {
  return printable(patch)
    .split("\n")
    .map((line) => {
      const style = styleOf(line);
      return style ? paint(style, line) : line;
    })
    .join("\n");
}

function styleOf(line: string): Style | undefined {
  if (line.startsWith("diff ") || line.startsWith("+++ ") || line.startsWith("--- ")) return "bold";
  if (line.startsWith("@@")) return "cyan";
  if (line.startsWith("+")) return "green";
  if (line.startsWith("-")) return "red";
  if (/^(?:index|new file|deleted file|old mode|new mode|similarity|rename|Binary) /.test(line)) return "dim";
  return undefined;
}
