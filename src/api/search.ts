/** Library API: search over everything that agents were asked, said, ran and changed. */
import { now } from "../base/clock.ts";
import type { Workspace } from "../git/workspace.ts";
import { literal, parseQuery } from "../search/query/parse.ts";
import type { Fates } from "../search/results/fates.ts";
import type { Near } from "../search/results/near.ts";
import type { FoundHits, SearchHit } from "../search/results/search.ts";
import { openSearch, type Search } from "../search/search.ts";

export type { Fate } from "../search/results/fates.ts";
export type { Near } from "../search/results/near.ts";
export type { SearchHit } from "../search/results/search.ts";

export interface SearchOptions {
  /** The maximum number of hits; 20 by default. */
  limit?: number | undefined;
  /** Restricts the search to the workspace's repository. */
  here?: boolean | undefined;
  /** Orders hits by relevance instead of time. */
  best?: boolean | undefined;
  /** Finds turns that added a line with this text. */
  added?: string | undefined;
  /** Finds turns that removed a line with this text. */
  removed?: string | undefined;
  /** Counts the added lines that are still in the files. */
  alive?: boolean | undefined;
  /** The time, in milliseconds, to index new text before searching; 200 by default, more for the first time. */
  patience?: number;
}

export interface SearchResult {
  hits: SearchHit[];
  /** The number of all matching texts. */
  total: number;
  /** The number of transcripts and repositories that are not indexed yet. */
  pending: number;
  /** Suggestions, set if nothing was found. */
  near?: Near;
}

const DEFAULT_LIMIT = 20;

/**
 * Searches the sessions of every repository and agent on this machine, newest first. The query is words (`refresh`
 * also finds `tokenRefreshSession`), `"quoted text"`, `word*`, `-word`, and filters such as `agent:codex`, `since:2d`,
 * `field:output` or `is:undone`. docs/search.md describes all of them.
 *
 * @example
 * const { hits, total } = await search(workspace, "token refresh is:undone");
 * for (const { id, snippet, fate } of hits) console.log(id, snippet, fate?.state);
 */
export async function search(
  workspace: Workspace | undefined,
  query: string,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const opened = await openSearch();
  try {
    const { pending } = await opened.catchUp({ workspace, patience: options.patience });
    const found = await searchWith(opened, workspace, query, options);
    return { ...found, hits: found.hits.map(({ document: _, ...hit }) => hit), pending };
  } finally {
    opened.close();
  }
}

/** Searches an index that is open and up to date. */
export async function searchWith(
  opened: Search,
  workspace: Workspace | undefined,
  query: string,
  options: SearchOptions,
  fates?: Fates,
): Promise<FoundHits> {
  const parsed = parseQuery(query, now());
  for (const field of ["added", "removed"] as const) {
    const text = options[field];
    if (text === undefined) continue;
    parsed.terms.push(literal(text));
    parsed.filters.fields.push(field);
  }
  const found = await opened.run(parsed, {
    limit: options.limit ?? DEFAULT_LIMIT,
    order: options.best ? "best" : "auto",
    root: options.here && workspace ? workspace.root : null,
    alive: options.alive ?? false,
    fates,
  });
  return found;
}
