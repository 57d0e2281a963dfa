/** Renders colleagues' turns from the team's hub, for `explain` and `why`. */
import { oneLine, plural, printable } from "../../base/text.ts";
import type { LinkedCommit } from "../../checkpoints/links/history.ts";
import type { VisibleTurn } from "../../team/protocol.ts";
import type { Channel } from "../terminal/io.ts";
import { wrap } from "./layout/text.ts";
import { age } from "./layout/time.ts";
import { commitLine } from "./line-origin.ts";

export function teamTurnLines(
  turns: readonly VisibleTurn[],
  commit: LinkedCommit | undefined,
  { paint, columns }: Channel,
  now: Date,
): string[] {
  const lines = commit ? [commitLine(commit, now, paint), ""] : [];
  lines.push(paint("bold", "From your team's hub"));
  for (const { person, agent, startedAt, prompt, paths, fileCount } of turns) {
    const who = `${oneLine(person ?? "somebody")}, ${oneLine(agent)}`;
    lines.push(`  ${who}  ${paint("dim", `${age(startedAt, now)}, ${plural(fileCount, "file")}`)}`);
    for (const line of wrap(printable(prompt ?? "").trim(), columns - 6)) lines.push(`    > ${line}`);
    for (const path of paths ?? []) lines.push(`    ${oneLine(path)}`);
  }
  return lines;
}
