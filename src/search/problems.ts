/** Why a search is refused or can't be done, as data. cli/render/words/search.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type SearchProblem =
  | {
      kind: "filter-value-unknown";
      filter: string;
      value: string;
      near: string | undefined;
      choices: readonly string[];
    }
  | { kind: "cost-filter-invalid"; value: string }
  | { kind: "search-index-busy" }
  | { kind: "search-index-later" }
  | { kind: "search-index-unusable"; path: string; reason: string }
  | { kind: "sqlite-too-old"; needed: string; found: string }
  | { kind: "sqlite-missing" };

export class SearchError extends ProblemError<SearchProblem> {}
