/** Renders the part of a plan that reverts a restore: what comes back, what is left behind and what is kept. */
import { plural } from "../../../base/text.ts";
import type { Step } from "../../../model/step.ts";
import type { Reversal } from "../../../restore/operations/reversal.ts";
import type { Paint } from "../../terminal/io.ts";
import { table } from "../layout/table.ts";
import { fitQuoted } from "../layout/text.ts";
import { age } from "../layout/time.ts";
import { turnRow } from "../plan/turns.ts";
import { titleOf } from "../timeline/timeline.ts";
import { restoreName } from "./sentence.ts";

interface View {
  paint: Paint;
  columns: number;
  now: Date;
}

const SHOWN_TURNS = 8;

export function reversalHeadline({ record, subject }: Reversal, { columns, now }: View): string {
  const when = ` (${age(record.time, now)})`;
  const room = Math.max(20, columns - "Undo ".length - when.length);
  return `${fitQuoted(restoreName(record, subject), room)}${when}`;
}

export function reversalLines({ bringsBack, since, keepsSince }: Reversal, view: View): string[] {
  const { paint } = view;
  const kept = keepsSince
    ? paint("bold", `Keeps ${plural(since.length, "later turn")}:`)
    : paint(["bold", "yellow"], `Drops ${plural(since.length, "later turn")}:`);
  return [
    ...(bringsBack.length > 0 ? [paint("bold", `Brings back ${plural(bringsBack.length, "turn")}:`)] : []),
    ...turnLines(bringsBack, view),
    ...(since.length > 0 ? [kept] : []),
    ...turnLines(since, view),
  ];
}

export function reversalJson({ record, bringsBack, since, keepsSince }: Reversal) {
  return {
    operation: record.id,
    kind: record.kind,
    bringsBack: bringsBack.map(turnJson),
    since: since.map(turnJson),
    keepsSince,
  };
}

function turnLines(steps: readonly Step[], { paint, columns }: View): string[] {
  const rows = steps.slice(0, SHOWN_TURNS).map((step) => {
    const title = titleOf({ ...step, kind: "turn-end" });
    return turnRow({ id: step.id, agent: step.agent ?? "", session: step.session ?? "", title }, paint);
  });
  const lines = table(rows, columns, 2);
  const more = steps.length - SHOWN_TURNS;
  return more > 0 ? [...lines, paint("dim", `  … and ${more} more`)] : lines;
}

function turnJson({ id, agent, session, turn, prompt }: Step) {
  return { step: id, agent, session, turn, prompt };
}
