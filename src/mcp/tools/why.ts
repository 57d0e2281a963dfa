/** Tool: `why` finds the turn and the prompt behind a line. */
import { isAbsolute, relative } from "node:path";
import * as z from "zod/v4";
import { UserError } from "../../base/errors.ts";
import { isInside } from "../../base/paths.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { moment, named, page, QUOTED_NOTE, quote } from "../answer.ts";
import { READS, tool } from "../tool.ts";

export const why = tool({
  name: "why",
  title: "Why a line is there",
  description:
    "Finds the commit, the turn and the prompt behind a line of a file, and what the agent said when it wrote the line. Use it before you change code whose purpose is unclear.",
  input: z.object({
    file: z.string().min(1).max(4_000).describe("The file's path from the root of the repository"),
    line: z.int().min(1).max(10_000_000).describe("The line's number, from 1"),
    cursor: z.string().max(100).optional().describe("From an earlier answer, to continue it"),
  }),
  annotations: READS,
  async answer({ file, line, cursor }, context) {
    const workspace = context.read();
    const redaction = await context.redaction(workspace);
    const path = fromRoot(workspace.root, file);
    const { blameFile } = await import("../../checkpoints/blame/blame.ts");
    const { explanationForLine } = await import("../../checkpoints/blame/line-rationale.ts");
    const { lines } = await blameFile(workspace, path, { from: line, to: line });
    const [found] = lines;
    if (!found) throw new UserError("not-found", `${named(file)} has no line ${line}.`);
    const { commit, turn, text } = found;
    const said = turn ? await explanationForLine(workspace, turn, path, text) : null;
    const written = turn
      ? `written by ${named(turn.agent)} session ${named(turn.session)}${turn.turn === null ? "" : `, turn ${turn.turn}`}`
      : commit
        ? "written by a person: no turn of an agent is recorded for it"
        : "written by the user: no turn of an agent is recorded for it";
    const answer = [
      `${named(path)}:${line}. ${QUOTED_NOTE}`,
      ...quote(redaction.text(text), 300),
      written,
      ...(turn?.step ? [`turn id: ${turn.step.id}`] : []),
      commit
        ? `commit: ${commit.id.slice(0, 12)}, ${moment(commit.time)}, subject:`
        : "commit: none, the line is not committed yet",
      ...(commit ? quote(redaction.text(shorten(oneLine(commit.subject), 200)), 200) : []),
      ...section("prompt", turn?.prompt ?? null, redaction.text),
      ...section("what the agent said when it wrote the line", said, redaction.text),
      ...(turn?.response === said ? [] : section("how the turn ended", turn?.response ?? null, redaction.text)),
    ];
    return page(answer, cursor);
  },
});

function section(title: string, text: string | null, redact: (text: string) => string): string[] {
  return text === null ? [] : [`${title}:`, ...quote(redact(text), 3_000)];
}

/** Agents know absolute paths; nothing outside of the work tree is read. */
function fromRoot(root: string, file: string): string {
  const path = isAbsolute(file) && isInside(root, file) ? relative(root, file) : file;
  if (!isAbsolute(path) && !path.split(/[\\/]/).includes("..")) return path;
  throw new UserError("usage", `${named(file)} is not in this work tree.`, "Name a file of this repository.");
}
