/** Draws the picker of a search: the query, the hits, and the conversation or the diff of the selected hit. */
import { basename } from "node:path";
import { oneLine, printable } from "../../../base/text.ts";
import type { FoundHit } from "../../../search/results/search.ts";
import type { IndexedText } from "../../../search/results/turn-texts.ts";
import { colorDiff } from "../../render/diff.ts";
import { fit, fitPainted, pad, widthOf, wrap } from "../../render/layout/text.ts";
import { age } from "../../render/layout/time.ts";
import { fateWords, markedSnippet } from "../../render/search/hits.ts";
import type { Paint } from "../../terminal/io.ts";
import type { HitPickerState } from "./state.ts";

export interface HitScreen {
  columns: number;
  rows: number;
  paint: Paint;
  now: Date;
  /** The texts of the hit's turn. */
  textsOf(hit: FoundHit): IndexedText[];
  /** The diff of the hit's file in its turn, once git has made it; null if the hit is not about one. */
  diffOf(hit: FoundHit): string | undefined | null;
  /** What to say about the index, or about a query that found nothing. */
  notes: readonly string[];
}

/** In a narrower window, the preview is below the hits. */
const WIDE = 100;
const ROWS_OF_HIT = 2;
const TEXT_LINES = 12;
const HELPS = [
  "type to search · ↑↓ choose · ←→ scroll · enter show · ^O resume · ^R rewind to before · ^F fork · ^Y copy id",
  "↑↓ · ←→ · enter show · ^O resume · ^R rewind to before · ^F fork · ^Y copy id",
  "↑↓ · enter · ^O resume · ^R rewind to before · ^F fork",
  "↑↓ enter ^O ^R ^F ^Y esc",
];

/** Returns exactly one line less than the screen has. */
export function draw(state: HitPickerState, screen: HitScreen): string[] {
  const { columns, rows, paint } = screen;
  const room = Math.max(8, rows - 1);
  const body = columns >= WIDE ? beside(state, screen, room - 2) : below(state, screen, room - 2);
  const help = state.notice ?? HELPS.find((text) => widthOf(text) <= columns) ?? "";
  const last = paint(state.notice === null ? "dim" : "yellow", fit(help, columns));
  return [queryLine(state, screen), ...body, last];
}

function queryLine({ query, hits, total }: HitPickerState, { paint, columns }: HitScreen): string {
  const count = total > hits.length ? `${hits.length} of ${total}` : `${hits.length}`;
  const text = fit(oneLine(query), columns - count.length - 5);
  return `${paint("cyan", ">")} ${pad(`${text}▏`, columns - count.length - 3)} ${paint("dim", count)}`;
}

function beside(state: HitPickerState, screen: HitScreen, rows: number): string[] {
  const left = Math.min(70, Math.floor(screen.columns * 0.45));
  const right = screen.columns - left - 3;
  const list = hitLines(state, screen, left, rows);
  const preview = previewLines(state, screen, right, rows);
  return list.map((line, i) => `${pad(line, left)} ${screen.paint("dim", "│")} ${preview[i] ?? ""}`);
}

function below(state: HitPickerState, screen: HitScreen, rows: number): string[] {
  const wanted = Math.max(1, state.hits.length) * ROWS_OF_HIT;
  const listRows = Math.min(wanted, Math.max(ROWS_OF_HIT, Math.floor((rows * 0.45) / ROWS_OF_HIT) * ROWS_OF_HIT));
  return [
    ...hitLines(state, screen, screen.columns, listRows),
    screen.paint("dim", "─".repeat(screen.columns)),
    ...previewLines(state, screen, screen.columns, rows - listRows - 1),
  ];
}

function hitLines({ hits, cursor }: HitPickerState, screen: HitScreen, columns: number, rows: number): string[] {
  const fitting = Math.max(1, Math.floor(rows / ROWS_OF_HIT));
  const first = Math.max(0, Math.min(cursor - Math.floor(fitting / 2), hits.length - fitting));
  const lines = hits
    .slice(first, first + fitting)
    .flatMap((hit, i) => linesOf(hit, first + i === cursor, screen, columns));
  if (hits.length === 0) {
    const notes = screen.notes.flatMap((note) => wrap(note, Math.max(10, columns - 2)));
    lines.push(...notes.map((line) => screen.paint("yellow", fit(`  ${line}`, columns))));
  }
  return filled(lines, rows);
}

function linesOf(hit: FoundHit, isChosen: boolean, screen: HitScreen, columns: number): string[] {
  const { paint, now } = screen;
  const facts = [
    hit.time === null ? "" : age(hit.time, now),
    hit.repository === null ? oneLine(hit.agent) : oneLine(basename(hit.repository)),
    `turn ${hit.turn}`,
    hit.subagent ? "subagent" : "",
    ...fateWords(hit.fate, (_, text) => text),
    hit.path === null ? "" : oneLine(hit.path),
  ];
  const head = fit(facts.filter((fact) => fact !== "").join("  "), columns - 2);
  const label = hit.field.padEnd(8);
  const text = `${paint("dim", label)} ${markedSnippet(hit, Math.max(8, columns - label.length - 3), paint)}`;
  const mark = isChosen ? paint("cyan", "❯ ") : "  ";
  return [mark + (isChosen ? paint("bold", head) : head), fitPainted(`  ${text}`, columns)];
}

function previewLines(state: HitPickerState, screen: HitScreen, columns: number, rows: number): string[] {
  const hit = state.hits[state.cursor];
  if (!hit || rows <= 0) return filled([], Math.max(0, rows));
  const { lines, match } = previewOf(hit, screen, columns);
  // The match is in the upper third.
  const start = Math.max(0, Math.min(lines.length - 1, match - Math.floor(rows / 3) + state.scrolled));
  return filled(
    lines.slice(start, start + rows).map((line) => fitPainted(line, columns)),
    rows,
  );
}

function previewOf(hit: FoundHit, screen: HitScreen, columns: number): { lines: string[]; match: number } {
  const { paint } = screen;
  const title = hit.title === null ? "" : `  ${oneLine(hit.title)}`;
  const id = hit.fate === null ? oneLine(hit.session) : hit.id;
  const lines = [fitPainted(`${paint("magenta", id)}  ${paint("cyan", oneLine(hit.agent))}${title}`, columns), ""];
  const diff = screen.diffOf(hit);
  if (diff) return { lines: [...lines, ...colorDiff(diff.trimEnd(), paint).split("\n")], match: 0 };
  let match = 0;
  for (const text of screen.textsOf(hit)) {
    const { field, path, isHit } = text;
    if (isHit) match = lines.length;
    const label = path === null ? field : `${field}  ${oneLine(path)}`;
    lines.push(paint(isHit ? ["bold", "cyan"] : "dim", fit(label, columns)));
    const shown = shownLines(text, hit, columns - 2).map((line) => `  ${isHit ? marked(line, hit, paint) : line}`);
    lines.push(...shown, "");
  }
  return { lines, match };
}

/** Long texts are cut: the hit's around its match, the others after their first lines. */
function shownLines({ text, isHit }: IndexedText, { snippet, matches }: FoundHit, columns: number): string[] {
  const plain = printable(text.trim());
  const [first] = matches;
  const word = first === undefined ? "" : snippet.slice(first.start, first.end);
  const at = isHit && word !== "" ? Math.max(0, plain.indexOf(word)) : 0;
  const start = plain.lastIndexOf("\n", Math.max(0, at - 200)) + 1;
  const cut = plain.slice(start, start + columns * TEXT_LINES * 2);
  const lines = wrap(cut, Math.max(10, columns));
  const most = isHit ? TEXT_LINES * 3 : TEXT_LINES;
  const shown = lines.slice(0, most);
  if (start > 0) shown.unshift("…");
  if (lines.length > most || start + cut.length < plain.length) shown.push("…");
  return shown;
}

function marked(line: string, { snippet, matches }: FoundHit, paint: Paint): string {
  const words = new Set(matches.map(({ start, end }) => snippet.slice(start, end)).filter((word) => word !== ""));
  if (words.size === 0) return line;
  const longestFirst = [...words].sort((a, b) => b.length - a.length).map((word) => RegExp.escape(word));
  return line.replace(new RegExp(longestFirst.join("|"), "g"), (word) => paint(["bold", "underline"], word));
}

function filled(lines: string[], rows: number): string[] {
  return [...lines.slice(0, rows), ...Array<string>(Math.max(0, rows - lines.length)).fill("")];
}
