/** Tool: `diff` shows what changed between two recorded states, or since one of them. */
import * as z from "zod/v4";
import { plural } from "../../base/text.ts";
import { named, page, QUOTED_NOTE, quote } from "../answer.ts";
import { READS, tool } from "../tool.ts";

const MAX_FILES = 100;
/** Longer patches than anybody reads page by page. */
const MAX_PATCH = 400_000;

export const diff = tool({
  name: "diff",
  title: "Difference between states",
  description:
    "Shows what changed between two recorded states, or between one and the current files: file names, then the patch. Covers changes by any means, shell commands included.",
  input: z.object({
    a: z.string().min(1).max(200).describe("The earlier state: a step's id, `prev`, `last-green`, a name, a commit"),
    b: z.string().min(1).max(200).optional().describe("The later state; the current files by default"),
    paths: z
      .array(z.string().min(1).max(300))
      .max(20)
      .optional()
      .describe("Only these files; patterns as in .gitignore"),
    cursor: z.string().max(100).optional().describe("From an earlier answer, to continue it"),
  }),
  annotations: READS,
  async answer({ a, b, paths, cursor }, context) {
    const workspace = context.read();
    const redaction = await context.redaction(workspace);
    const { diff: compare } = await import("../../api/diff.ts");
    const { files, patch } = await compare(workspace, a, { ...(b && { to: b }), ...(paths && { paths }) });
    if (files.length === 0) return "Nothing changed between these states.";
    const names = files.slice(0, MAX_FILES).map(({ path, status }) => `${status} ${named(redaction.name(path))}`);
    const left = files.length - names.length;
    const cut = patch.length > MAX_PATCH;
    const lines = [
      `${plural(files.length, "file")} changed. ${QUOTED_NOTE}`,
      ...names,
      ...(left > 0 ? [`and ${left} more`] : []),
      ...quote(redaction.text(cut ? patch.slice(0, MAX_PATCH) : patch), MAX_PATCH + 1),
      ...(cut ? ["The patch is cut here: name files with `paths` to see the rest."] : []),
    ];
    return page(lines, cursor);
  },
});
