/** Draws the picker's screen as lines: the filter, the list, and a preview of the chosen turn. */
import { oneLine, plural, printable, shortSession } from "../../base/text.ts";
import { colorDiff } from "../render/diff.ts";
import { countOf, entriesOf, fileLines, summaryOf } from "../render/files.ts";
import { fit, fitPainted, pad, widthOf, wrap } from "../render/layout/text.ts";
import { age } from "../render/layout/time.ts";
import { turnNumber } from "../render/timeline/timeline.ts";
import type { Paint } from "../terminal/io.ts";
import { type PickerEntry, stepOf } from "./entries.ts";
import type { Purpose } from "./purpose.ts";
import type { PickerState } from "./state.ts";

export interface Screen {
  columns: number;
  rows: number;
  paint: Paint;
  now: Date;
  purpose: Purpose;
  /** The diff of an entry, if it has been computed yet. */
  diffOf(entry: PickerEntry): string | undefined;
}

const PROMPT_LINES = 3;
const FILE_LINES = 5;
const MIN_LIST = 3;
const MIN_TITLE = 16;
const MAX_AGENT = 15;

/** Returns exactly one line less than the screen has. */
export function draw(state: PickerState, screen: Screen): string[] {
  const { columns, paint } = screen;
  const lines = [headline(state, screen), filterLine(state, screen), ...list(state, listRows(state, screen), screen)];
  lines.push(paint("dim", "─".repeat(columns)));
  const entry = state.matches[state.cursor];
  const left = previewRows(state, screen);
  const preview = entry ? previewOf(entry, screen).slice(Math.max(0, state.scrolled)) : [];
  for (let i = 0; i < left; i++) lines.push(fitPainted(preview[i] ?? "", columns));
  const help = helps(screen.purpose).find((text) => widthOf(text) <= columns) ?? "";
  lines.push(paint("dim", help));
  return lines;
}

/** Keeps the end of the preview at the bottom of the screen, so that all of a short one stays. */
export function withinPreview(state: PickerState, screen: Screen): PickerState {
  const entry = state.matches[state.cursor];
  const end = entry ? Math.max(0, previewOf(entry, screen).length - previewRows(state, screen)) : 0;
  return state.scrolled <= end ? state : { ...state, scrolled: end };
}

function listRows(state: PickerState, screen: Screen): number {
  return Math.max(MIN_LIST, Math.min(state.matches.length, Math.floor((roomIn(screen) - 4) * 0.4)));
}

/** Below the heading, the filter, the list and a line; above the help. */
function previewRows(state: PickerState, screen: Screen): number {
  return roomIn(screen) - listRows(state, screen) - 4;
}

function roomIn({ rows }: Screen): number {
  return Math.max(8, rows - 1);
}

/** Help texts, of which the longest that fits is shown. */
function helps({ verb, sides }: Purpose): string[] {
  const [side, tab] = sides ? [" · tab before/after", " tab"] : ["", ""];
  return [
    `type to filter · ↑↓ choose${side} · ←→ scroll · enter ${verb} · esc cancel`,
    `↑↓ choose${side} · enter ${verb} · esc cancel`,
    `↑↓${side} · enter · esc`,
    `↑↓${tab} enter esc`,
  ];
}

function headline(state: PickerState, { paint, columns, purpose }: Screen): string {
  if (!purpose.sides) return paint("bold", fit(purpose.question, columns));
  const entry = state.matches[state.cursor];
  const where = entry?.isTurn
    ? stepOf(entry, state.after) === entry.after
      ? "after this turn"
      : "before this turn"
    : "this moment";
  return fit(purpose.lead, columns) + paint("bold", entry ? where : "…");
}

function filterLine(state: PickerState, { paint, columns }: Screen): string {
  const count = `${state.matches.length}/${state.entries.length}`;
  const text = fit(oneLine(state.query), columns - count.length - 5);
  return `${paint("cyan", ">")} ${pad(`${text}▏`, columns - count.length - 3)}${paint("dim", count)}`;
}

function list(state: PickerState, rows: number, screen: Screen): string[] {
  if (state.matches.length === 0) return [screen.paint("yellow", "  nothing matches"), ...Array(rows - 1).fill("")];
  const first = Math.max(0, Math.min(state.cursor - Math.floor(rows / 2), state.matches.length - rows));
  const shown = state.matches.slice(first, first + rows);
  const widest = Math.max(0, ...state.entries.map(({ after }) => widthOf(oneLine(after.agent ?? ""))));
  const lines = shown.map((entry, i) => row(entry, first + i === state.cursor, Math.min(widest, MAX_AGENT), screen));
  while (lines.length < rows) lines.push("");
  return lines;
}

function row(entry: PickerEntry, chosen: boolean, agentWidth: number, { columns, paint, now }: Screen): string {
  const when = pad(fit(age(entry.after.time, now), 11), 11);
  const files = summaryOf(entry.after.files, (_style, text) => text);
  let room = columns - 17 - files.length;
  // On a narrow screen the title matters most.
  const note = widthOf(entry.note) + MIN_TITLE <= room ? entry.note : "";
  if (note !== "") room -= widthOf(note) + 1;
  const agent = pad(fit(oneLine(entry.after.agent ?? ""), agentWidth), agentWidth);
  const hasAgent = agentWidth > 0 && room >= agentWidth + 2 * MIN_TITLE;
  if (hasAgent) room -= agentWidth + 2;
  const emphasis = (text: string) => (chosen ? paint("bold", text) : text);
  const left = [
    emphasis(when),
    ...(hasAgent ? [paint("cyan", agent)] : []),
    emphasis(pad(fit(entry.title, room), room + 1)),
  ];
  const right = [...(note === "" ? [] : [colorMarks(note, paint)]), emphasis(files)];
  return `${chosen ? paint("cyan", "❯") : " "} ${left.join("  ")} ${right.join(" ")}`;
}

function colorMarks(note: string, paint: Paint): string {
  return note.replace("✓", paint("green", "✓")).replace("✗", paint("red", "✗"));
}

function previewOf(entry: PickerEntry, screen: Screen): string[] {
  const { paint, columns } = screen;
  const step = entry.after;
  const facts = [
    step.agent,
    step.model,
    step.session && `session ${shortSession(step.session)}`,
    entry.back !== null && turnNumber(entry.back),
    step.branch,
    entry.note,
  ];
  const lines = [`${paint("magenta", step.id)}  ${paint("dim", oneLine(facts.filter(Boolean).join(" · ")))}`];
  const prompt = wrap(printable(step.prompt ?? entry.before?.prompt ?? entry.title).trim(), columns - 2);
  lines.push(...prompt.slice(0, PROMPT_LINES).map((line) => `  ${line}`));
  if (prompt.length > PROMPT_LINES) lines.push(paint("dim", "  …"));
  const count = countOf(step.files);
  lines.push(paint("bold", count === 0 ? "No file changed" : plural(count, "file")));
  lines.push(...fileLines(entriesOf(step.files), paint, { limit: FILE_LINES }));
  lines.push(...entry.details.map((text) => paint("cyan", `  ${fit(text, columns - 2)}`)));
  const diff = screen.diffOf(entry);
  if (diff) lines.push(...colorDiff(diff.trimEnd(), paint).split("\n"));
  return lines;
}
