/** Renders a recorded or imported session, turn by turn. */
import { oneLine, plural, printable, shownPath } from "../../../base/text.ts";
import type { RecordedSession, RecordedTurn } from "../../../checkpoints/read/sessions.ts";
import type { CheckpointView } from "../checkpoint.ts";
import { costWords } from "../layout/amounts.ts";
import { fit, wrap } from "../layout/text.ts";
import { age } from "../layout/time.ts";
import { labeled } from "../line-origin.ts";
import { tokenLine } from "../step/step.ts";

const MAX_FILES = 5;

export function recordedSessionLines(session: RecordedSession, view: CheckpointView): string[] {
  const { paint } = view;
  const model = session.model ? ` (${oneLine(session.model)})` : "";
  return [
    `${paint("bold", "session")} ${paint("cyan", oneLine(session.agent) + model)}  ${oneLine(session.session)}`,
    ...labeled("title", session.title && oneLine(session.title), paint),
    ...labeled("imported", session.imported ? "without snapshots, so it can't be rewound" : null, paint),
    ...labeled("tokens", session.tokens && tokenLine(session.tokens), paint),
    ...labeled("cost", session.tokens && costWords(session.cost), paint),
    ...labeled("checkpoints", session.checkpoints.join(", "), paint),
    ...session.turns.flatMap((turn) => turnLines(turn, isUndone(session, turn, view), view)),
  ];
}

function isUndone({ agent, session }: RecordedSession, { turn }: RecordedTurn, view: CheckpointView): boolean {
  return view.isUndone?.({ agent, session, turn, committed: null }) ?? false;
}

function turnLines(turn: RecordedTurn, undone: boolean, { paint, columns, now }: CheckpointView): string[] {
  const facts = [turn.time ? age(turn.time, now) : "", turn.step ?? ""].filter((fact) => fact !== "").join("  ");
  const prompt = printable(turn.prompt ?? "(no prompt recorded)").trim();
  const files = turn.files.slice(0, MAX_FILES).map(shownPath).join(", ");
  const more = turn.files.length > MAX_FILES ? `, and ${plural(turn.files.length - MAX_FILES, "more file")}` : "";
  return [
    "",
    `${paint("bold", `Turn ${turn.turn}`)}  ${paint("dim", facts)}${undone ? `  ${paint("yellow", "undone")}` : ""}`.trimEnd(),
    ...wrap(prompt, columns - 2).map((row) => `  ${row}`.trimEnd()),
    ...(files ? [paint("dim", fit(`  files: ${files}${more}`, columns))] : []),
    ...(turn.response ? [paint("dim", fit(`  answer: ${oneLine(turn.response)}`, columns))] : []),
  ];
}
