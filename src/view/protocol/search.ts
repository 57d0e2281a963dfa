/** Protocol of `backtrail view`: search and report. */
import type { Check, Fate, Tokens } from "./timeline.ts";

export type SearchAnswer =
  | { available: false }
  | {
      available: true;
      hits: SearchHit[];
      total: number;
      /** Sources that are not in the index yet. */
      pending: number;
    };

export interface SearchHit {
  /** A target for `turn`; null if the hit's session is not recorded. */
  id: string | null;
  session: string;
  agent: string;
  /** Who shared it; only on the page of a team's hub. */
  person?: string | null;
  /** The root of the hit's repository, and its id in `repositories` if it is known there. */
  repository: string | null;
  repositoryId: string | null;
  turn: number | null;
  /** What the turn was asked; only for turns of this repository. */
  prompt?: string | null;
  time: string;
  field: "prompt" | "answer" | "thinking" | "command" | "output" | "added" | "removed" | "path";
  /** Matches are between U+0001 and U+0002. */
  snippet: string;
  path: string | null;
  fate: { state: Fate; commit: string | null; check: Check | null };
}

export type ReportAnswer =
  | { available: false }
  | {
      available: true;
      rows: {
        key: Record<string, string | null>;
        turns: number;
        tokens: Tokens | null;
        cost: number | null;
        undone: number;
        commits: number;
        linesAlive: number | null;
        unknown: string[];
      }[];
    };
