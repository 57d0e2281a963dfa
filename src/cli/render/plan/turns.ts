/** Renders the turns of a plan, one line each, grouped by session, with the ids by which other commands know them. */
import { oneLine, plural, shortSession } from "../../../base/text.ts";
import { groupTurns, type PlannedTurn } from "../../../restore/changes/turns.ts";
import type { Paint } from "../../terminal/io.ts";
import { type Cell, table } from "../layout/table.ts";

const MAX_SHOWN = 10;

export interface TurnsView {
  paint: Paint;
  columns: number;
  /** Shows every turn, however many there are. */
  all: boolean;
}

/** Returns no lines if there are no turns. */
export function turnLines(verb: string, turns: readonly PlannedTurn[], { paint, columns, all }: TurnsView): string[] {
  if (turns.length === 0) return [];
  const grouped = groupTurns(turns).flat();
  const shown = all || grouped.length <= MAX_SHOWN ? grouped : grouped.slice(0, MAX_SHOWN - 1);
  const rows = shown.map((turn) => {
    const prompt = turn.prompt === null ? "(no prompt recorded)" : oneLine(turn.prompt);
    return turnRow({ ...turn, title: `${stateOf(turn.partial, turn.running)}${prompt}` }, paint);
  });
  const lines = [paint("bold", `${verb} ${plural(turns.length, "turn")}:`), ...table(rows, columns, 2)];
  const left = grouped.length - shown.length;
  if (left > 0) lines.push(paint("dim", `  … and ${plural(left, "more turn")} (--all lists them)`));
  return lines;
}

export function turnRow(
  { id, agent, session, title }: { id: string; agent: string; session: string; title: string },
  paint: Paint,
): (Cell | string)[] {
  return [
    { text: id, paint: (text) => paint("magenta", text) },
    { text: oneLine(agent), paint: (text) => paint("cyan", text) },
    { text: shortSession(session), paint: (text) => paint("dim", text) },
    title,
  ];
}

function stateOf(partial: boolean, running: boolean): string {
  if (running) return "(not ended) ";
  return partial ? "(in part) " : "";
}
