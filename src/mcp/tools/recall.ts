/** Tool: `recall` searches prompts, answers, commands and changes of this repository, with their fate. */
import * as z from "zod/v4";
import type { Near, SearchHit } from "../../api/search.ts";
import { plural } from "../../base/text.ts";
import { moment, named, page, QUOTED_NOTE, quote } from "../answer.ts";
import { READS, tool } from "../tool.ts";

const MAX_HITS = 40;
const SNIPPET = 300;

export const recall = tool({
  name: "recall",
  title: "Search what was tried before",
  description:
    "Searches every agent's prompts, answers, commands, outputs and changed lines in this repository. Each hit says whether its turn was kept, undone or rewound, committed, and passed the check. Use it before you try something: it may have been tried and undone.",
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(400)
      .describe('Words, "exact text", word*, -word; filters: is:undone, agent:codex, file:src/a.ts, since:2d'),
    cursor: z.string().max(100).optional().describe("From an earlier answer, to continue it"),
  }),
  annotations: READS,
  async answer({ query, cursor }, context) {
    const workspace = context.read();
    const { search } = await import("../../api/search.ts");
    // Only this repository: other repositories' conversations may be confidential.
    const { hits: found, pending, near } = await search(workspace, query, { here: true, limit: MAX_HITS });
    // The agent knows its own running turn, which holds this very question.
    const caller = context.caller(workspace);
    const hits = found.filter(({ session, turn }) => session !== caller?.id || turn !== caller.turn);
    const late = pending > 0 ? [`${plural(pending, "conversation")} are not searchable yet: ask again later.`] : [];
    if (hits.length === 0) return ["Nothing was found.", ...similar(near), ...late].join("\n");
    const redaction = await context.redaction(workspace);
    const lines = hits.flatMap((hit) => ["", headline(hit), ...quote(redaction.text(hit.snippet), SNIPPET)]);
    return page([`${plural(hits.length, "hit")}. ${QUOTED_NOTE}`, ...late, ...lines], cursor);
  },
});

function similar(near: Near | undefined): string[] {
  const words = (near?.words ?? []).flatMap(({ like }) => (like === null ? [] : [like]));
  return words.length > 0 ? [`Similar words that occur: ${words.join(", ")}.`] : [];
}

/** "yyqxylmplkwz: prompt, claude-code, undone, 2026-11-18 07:20 UTC" */
function headline({ id, agent, field, time, path, fate, subagent }: SearchHit): string {
  const facts = [
    path === null ? field : `${field} in ${named(path)}`,
    `${named(agent)}${subagent ? " (subagent)" : ""}`,
    fate === null ? "not recorded" : fate.state,
    ...(fate?.commit ? [`commit ${fate.commit.slice(0, 12)}`] : []),
    ...(fate?.check ? [fate.check === "green" ? "check passed" : "check failed"] : []),
    ...(time === null ? [] : [moment(time)]),
  ];
  return `${named(id)}: ${facts.join(", ")}`;
}
