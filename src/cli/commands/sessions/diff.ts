/** `sessions diff`: two sessions side by side: what was asked, what came of it, what it took. */
import { oneLine, printable, shownPath } from "../../../base/text.ts";
import { requireSession } from "../../../run/sessions/find.ts";
import { type SessionStory, storyOf } from "../../../run/sessions/story.ts";
import type { Io } from "../../io.ts";
import { knownSessions } from "../../looking-at-sessions.ts";
import { page } from "../../pager.ts";
import { factsOf } from "../../render/story/facts.ts";
import { storyJson } from "../../render/story/json.ts";
import { fit, pad, wrap } from "../../render/text.ts";

interface Options {
  one: string;
  other: string;
  json?: boolean;
}

const LABEL = 10;
const LONGEST = 2_000;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, nodes } = await knownSessions(io);
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
  const width = Math.max(20, Math.floor((columns - LABEL - 2) / 2));
  const lines: string[] = [];
  const row = (label: string, a: string, b: string) => {
    const [left, right] = [wrapped(a, width), wrapped(b, width)];
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

/** Broken where a word is longer than a column, too. */
function wrapped(text: string, width: number): string[] {
  const shown = printable(text).trim();
  const cut = shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
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

/** Null where it is not known of both. */
function compareFiles(one: SessionStory, other: SessionStory) {
  if (!one.files || !other.files) return null;
  const [a, b] = [new Set(one.files), new Set(other.files)];
  return {
    both: one.files.filter((file) => b.has(file)),
    one: one.files.filter((file) => !b.has(file)),
    other: other.files.filter((file) => !a.has(file)),
  };
}
