/** Search over everything that agents were asked, said, ran and changed. */
import { search as searchEverything } from "../../../api/search.ts";
import { shorten } from "../../../base/text.ts";
import type { SearchAnswer } from "../../protocol.ts";
import type { Context } from "../routes.ts";
import type { Query } from "./query.ts";

const USUAL_LIMIT = 30;
const MAX_LIMIT = 200;
const PROMPT_LENGTH = 300;
const CHECKS = { green: "pass", red: "fail" } as const;
/** Enclose a match in a snippet; no text that is indexed contains them. */
const [START, END] = ["\u0001", "\u0002"];

export async function search({ repository, repositories }: Context, query: Query): Promise<SearchAnswer> {
  const { hits, total, pending } = await searchEverything(repository.workspace, query.required("q"), {
    limit: query.number("limit", USUAL_LIMIT, MAX_LIMIT),
    best: query.flag("best"),
    here: query.flag("here"),
  });
  const { workspace } = repository;
  const redaction = await repository.redaction(false);
  const { turns } = repository.indexWithMark();
  const promptOf = (id: string): string | null => {
    const prompt = turns.of(id)?.steps.find((step) => step.prompt)?.prompt ?? null;
    return prompt === null ? null : shorten(redaction.text(prompt), PROMPT_LENGTH);
  };
  return {
    available: true,
    total,
    pending,
    hits: hits.map((hit) => ({
      id: hit.fate === null ? null : hit.id,
      session: hit.session,
      agent: hit.agent,
      repository: hit.repository,
      repositoryId: hit.repository === workspace.root ? repository.id : repositories.idOfRoot(hit.repository),
      turn: hit.turn,
      prompt: hit.fate === null || hit.repository !== workspace.root ? null : promptOf(hit.id),
      time: hit.time ?? "",
      field: hit.field,
      snippet: marked(hit.snippet, hit.matches),
      path: hit.path,
      fate: {
        state: hit.fate?.state ?? "kept",
        commit: hit.fate?.commit ?? null,
        check: hit.fate?.check ? CHECKS[hit.fate.check] : null,
      },
    })),
  };
}

function marked(text: string, matches: readonly { start: number; end: number }[]): string {
  let shown = "";
  let at = 0;
  for (const { start, end } of matches.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue;
    shown += text.slice(at, start) + START + text.slice(start, end) + END;
    at = end;
  }
  return shown + text.slice(at);
}
