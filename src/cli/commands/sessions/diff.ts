/** `sessions diff`: compares two sessions side by side: prompts, results and costs. */

import { oneLine, printable, shownPath } from "../../../base/text.ts";
import { requireSession } from "../../../run/sessions/find.ts";
import { type SessionStory, storyOf } from "../../../run/sessions/story.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { fit, pad, wrap } from "../../render/layout/text.ts";
import { factsOf } from "../../render/session-export/facts.ts";
import { storyJson } from "../../render/session-export/json.ts";
import { loadSessions } from "../../shared/load-sessions.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import type { sessionsDiffCommand } from "./commands.ts";

type Options = OptionsOf<typeof sessionsDiffCommand>;

const LABEL = 10;
const MAX_TEXT = 2_000;
/** Without a terminal, two sides of 60 columns. */
const PIPED_COLUMNS = 132;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, nodes } = await loadSessions(io);
  const one = await storyOf(workspace, requireSession(nodes, options.one));
  const other = await storyOf(workspace, requireSession(nodes, options.other));
  if (options.json) {
    io.json({ one: storyJson(one), other: storyJson(other), files: compareFiles(one, other) });
    return;
  }
  await page(io, sideBySide(one, other, io).join("\n"));
}

function sideBySide(one: SessionStory, other: SessionStory, io: Io): string[] {
  const { paint, columns } = io.out;
  const room = Number.isFinite(columns) ? columns : PIPED_COLUMNS;
  const longest = io.out.isTerminal ? MAX_TEXT : Number.POSITIVE_INFINITY;
  const width = Math.max(20, Math.floor((room - LABEL - 2) / 2));
  const lines: string[] = [];
  const row = (label: string, a: string, b: string) => {
    const [left, right] = [wrapped(a, width, longest), wrapped(b, width, longest)];
    for (let i = 0; i < Math.max(left.length, right.length, 1); i++) {
      const name = paint("dim", (i === 0 ? label : "").padEnd(LABEL));
      lines.push(`${name}${pad(left[i] ?? "", width)}  ${right[i] ?? ""}`.trimEnd());
    }
  };
  row("session", one.session.id, other.session.id);
  const facts = [factsOf(one), factsOf(other)].map((list) => new Map(list));
  const labels = new Set([...(facts[0]?.keys() ?? []), ...(facts[1]?.keys() ?? [])]);
  for (const label of labels) row(label, facts[0]?.get(label) ?? "–", facts[1]?.get(label) ?? "–");
  for (let i = 0; i < Math.max(one.turns.length, other.turns.length); i++) {
    lines.push("");
    row(`prompt ${i + 1}`, one.turns[i]?.prompt ?? "–", other.turns[i]?.prompt ?? "–");
    lines.push("");
    row(`result ${i + 1}`, one.turns[i]?.result ?? "–", other.turns[i]?.result ?? "–");
  }
  const files = compareFiles(one, other);
  if (files) {
    const list = (title: string, names: readonly string[]) => {
      if (names.length === 0) return;
      lines.push("", paint("bold", title), ...names.map((name) => `  ${shownPath(name)}`));
    };
    list("Files that both changed", files.both);
    list(`Files of ${fit(oneLine(one.session.id), 12)} alone`, files.one);
    list(`Files of ${fit(oneLine(other.session.id), 12)} alone`, files.other);
  }
  return lines;
}

/** Also breaks words that are longer than a column. */
function wrapped(text: string, width: number, longest: number): string[] {
  const shown = printable(text).trim();
  const cut = shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
  return wrap(cut, width).flatMap((line) => {
    const rows: string[] = [];
    let rest = line;
    while (fit(rest, width) !== rest) {
      const part = fit(rest, width).slice(0, -1);
      if (part === "") break;
      rows.push(part);
      rest = rest.slice(part.length);
    }
    return [...rows, rest];
  });
}

/** Null unless the files of both sessions are known. */
function compareFiles(one: SessionStory, other: SessionStory) {
  if (!one.files || !other.files) return null;
  const [a, b] = [new Set(one.files), new Set(other.files)];
  return {
    both: one.files.filter((file) => b.has(file)),
    one: one.files.filter((file) => !b.has(file)),
    other: other.files.filter((file) => !a.has(file)),
  };
}
