/** Renders the hits of a search, grouped by session: a line about the session, then each hit with its match marked. */

import { basename } from "node:path";
import type { Fate, SearchHit, SearchResult } from "../../../api/search.ts";
import { oneLine, plural, printable, shortSession } from "../../../base/text.ts";
import { sessionRefKey } from "../../../model/session.ts";
import type { IndexStatus } from "../../../search/search.ts";
import type { Paint } from "../../terminal/io.ts";
import { fit } from "../layout/text.ts";
import { age } from "../layout/time.ts";
import { nearTexts } from "../words/search.ts";

export interface HitsView {
  paint: Paint;
  columns: number;
  now: Date;
}

const SHORT_COMMIT = 8;
const FIELD_WIDTH = 8;
const INDENT = "  ";

export function searchLines({ hits, total }: Pick<SearchResult, "hits" | "total">, view: HitsView): string[] {
  const groups = Map.groupBy(hits, sessionRefKey);
  const lines = [...groups.values()].flatMap((group) => [...sessionLines(group, view), ""]);
  const all = total > hits.length ? ` of ${total}` : "";
  lines.push(view.paint("dim", `${plural(hits.length, "hit")}${all} in ${plural(groups.size, "session")}`));
  return lines;
}

function sessionLines(hits: readonly SearchHit[], view: HitsView): string[] {
  const [first] = hits;
  if (!first) return [];
  const { paint, columns } = view;
  const facts = [
    paint("magenta", shortSession(first.session)),
    paint("cyan", oneLine(first.agent)),
    first.repository === null ? "" : oneLine(basename(first.repository)),
    first.title === null ? "" : fit(oneLine(first.title), Math.max(20, columns - 50)),
  ];
  const lines = [facts.filter((fact) => fact !== "").join("  ")];
  let last = "";
  for (const hit of hits) {
    const turn = turnLine(hit, view);
    // Hits of one turn stand below each other.
    if (turn !== last) lines.push(turn);
    lines.push(hitLine(hit, view));
    last = turn;
  }
  return lines;
}

function turnLine(hit: SearchHit, { paint, now }: HitsView): string {
  const facts = [
    hit.fate === null ? "" : paint("yellow", hit.id),
    `turn ${hit.turn}`,
    hit.time === null ? "" : paint("dim", age(hit.time, now)),
    hit.subagent ? "subagent" : "",
    ...fateWords(hit.fate, paint),
    hit.alive === undefined ? "" : `${hit.alive.lines} of ${plural(hit.alive.of, "line")} still there`,
    hit.path === null ? "" : oneLine(hit.path),
  ];
  return INDENT + facts.filter((fact) => fact !== "").join("  ");
}

function hitLine(hit: SearchHit, { paint, columns }: HitsView): string {
  const sign = hit.field === "added" ? paint("green", "+ ") : hit.field === "removed" ? paint("red", "- ") : "";
  const label = paint("dim", hit.field.padEnd(FIELD_WIDTH));
  const room = Math.max(20, columns - INDENT.length * 2 - FIELD_WIDTH - 3);
  return `${INDENT}${INDENT}${label} ${sign}${markedSnippet(hit, room, paint)}`;
}

export function fateWords(fate: Fate | null, paint: Paint): string[] {
  if (!fate) return [];
  return [
    fate.state === "kept" ? "" : paint("red", fate.state),
    fate.commit === null ? "" : paint("green", `committed ${fate.commit.slice(0, SHORT_COMMIT)}`),
    fate.check === null ? "" : fate.check === "green" ? paint("green", "✓") : paint("red", "✗"),
  ];
}

/** The snippet with its matches in bold. Cuts it to the width first, because escape sequences have none. */
export function markedSnippet({ snippet, matches }: SearchHit, room: number, paint: Paint): string {
  // The snippet has no line ends, so removing control characters does not move the matches.
  const text = printable(snippet).length === snippet.length ? snippet : oneLine(snippet);
  const shown = fit(text, room);
  let line = "";
  let at = 0;
  for (const { start, end } of text === snippet ? matches : []) {
    if (start < at || end > shown.length || shown.slice(start, end) !== snippet.slice(start, end)) continue;
    line += printable(shown.slice(at, start)) + paint(["bold", "underline"], printable(shown.slice(start, end)));
    at = end;
  }
  return line + printable(shown.slice(at));
}

/** What the user should know about the index, and what to try if nothing was found. */
export function searchNotes(status: IndexStatus, paint: Paint, result?: Pick<SearchResult, "hits" | "near">): string[] {
  const notes: string[] = [];
  if (result?.hits.length === 0) {
    notes.push("Nothing found.");
    for (const hint of result.near ? nearTexts(result.near) : [])
      notes.push(`${paint("cyan", "hint:")} ${printable(hint)}`);
  }
  if (status.remade) notes.push(paint("dim", "The search index was damaged; it is being rebuilt."));
  if (status.readOnly)
    notes.push(
      paint("yellow", "The search index can't be written, so turns may be missing. Is the disk full or read-only?"),
    );
  else if (status.busy) notes.push(paint("dim", "Indexing continues in the background."));
  else if (status.pending > 0)
    notes.push(
      paint("dim", `${plural(status.pending, "transcript")} not indexed yet; indexing continues in the background.`),
    );
  return notes;
}
