/** Lets the user pick a step: full screen with a preview, or a numbered list if the terminal cannot move its cursor. */
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { oneLine, plural } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type Step, TIMELINE_KINDS } from "../../model/step.ts";
import { readCheckResults } from "../../restore/targets/check-results.ts";
import { readTurnStatuses } from "../../restore/targets/turn-status.ts";
import { patch } from "../../steps/diff.ts";
import { stepsIn } from "../../steps/log.ts";
import { fit, widthOf } from "../render/layout/text.ts";
import { age } from "../render/layout/time.ts";
import { turnNumber } from "../render/timeline/timeline.ts";
import { askLine, interrupted } from "../terminal/ask.ts";
import type { Io } from "../terminal/io.ts";
import { entriesFrom, type PickerEntry, stepOf } from "./entries.ts";
import { runFullScreen } from "./full-screen.ts";
import { Previews } from "./previews.ts";
import type { Purpose } from "./purpose.ts";
import { begin, press } from "./state.ts";
import { draw, withinPreview } from "./view.ts";

const NUMBERED = 20;

/** `session` restricts the list to one session. */
export async function pickStep(workspace: Workspace, io: Io, purpose: Purpose, session?: string): Promise<Step> {
  const steps = stepsIn(workspace).list({ worktree: workspace.worktree, session });
  const known = { fates: readTurnStatuses(workspace, steps), verdictOf: readCheckResults(workspace).of };
  const entries = entriesFrom(
    steps.filter(({ kind }) => TIMELINE_KINDS.includes(kind)),
    known,
  ).filter(purpose.offers);
  if (entries.length === 0) {
    throw new UserError("not-found", purpose.nothing, "Start an agent and give it a task.");
  }
  return io.dumb ? pickByNumber(entries, io, purpose) : pickOnScreen(entries, workspace, io, purpose);
}

/** Lists one page at a time. A number picks the state before that turn, a number with a plus the state after it. */
async function pickByNumber(entries: readonly PickerEntry[], io: Io, { question, sides }: Purpose): Promise<Step> {
  io.say(question);
  for (let from = 0; ; from += NUMBERED) {
    const shown = entries.slice(0, from + NUMBERED);
    for (const [i, entry] of shown.entries()) if (i >= from) io.say(numberedLine(entry, i + 1, sides, io));
    const older = entries.length - shown.length;
    if (older > 0) io.say(`     ${plural(older, "older one")}: type m to show more.`);
    const answer = await askLine(`Number${sides ? " (with + for after that turn)" : ""}, or Enter to cancel: `);
    if (answer === "") throw interrupted();
    if (older > 0 && /^m(ore)?$/i.test(answer)) continue;
    const [, number, plus] = /^(\d+)(\+?)$/.exec(answer) ?? [];
    const chosen = number === undefined ? undefined : shown[Number(number) - 1];
    if (!chosen || (plus === "+" && !sides))
      throw new UserError("usage", `"${oneLine(answer)}" is not a number from 1 to ${shown.length}.`);
    return stepOf(chosen, plus === "+");
  }
}

function numberedLine(entry: PickerEntry, number: number, sides: boolean, io: Io): string {
  const place = entry.isTurn && sides ? (entry.before ? "before: " : "after: ") : "";
  const note = entry.note === "" ? "" : ` (${io.accessible ? spoken(entry.note) : entry.note})`;
  const turn = entry.back === null ? "" : `${turnNumber(entry.back)} `;
  const start = `${String(number).padStart(3)}. ${turn}${age(entry.after.time, now())}: ${place}`;
  // A screen reader has no columns, so nothing is cut off for it.
  const room = io.accessible ? Number.POSITIVE_INFINITY : Math.max(10, io.err.columns - widthOf(start) - widthOf(note));
  return `${start}${fit(entry.title, room)}${note}`;
}

function spoken(note: string): string {
  return note.replace("✓", "check passed").replace("✗", "check failed");
}

function pickOnScreen(entries: readonly PickerEntry[], workspace: Workspace, io: Io, purpose: Purpose): Promise<Step> {
  return runFullScreen(io, (redraw) => {
    const diffs = new Previews(redraw);
    let state = begin(entries, purpose.sides);
    return {
      draw(columns, rows) {
        const { paint } = io.err;
        const diffOfEntry = (entry: PickerEntry) => diffs.of(entry.after.id, () => diffOf(workspace, entry));
        const screen = { columns, rows, paint, now: now(), purpose, diffOf: diffOfEntry };
        state = withinPreview(state, screen);
        return draw(state, screen);
      },
      press(key) {
        const outcome = press(state, key);
        if ("picked" in outcome) return { picked: stepOf(outcome.picked, outcome.after) };
        if ("canceled" in outcome) return outcome;
        state = outcome.state;
        return undefined;
      },
    };
  });
}

async function diffOf(workspace: Workspace, { before: start, after }: PickerEntry): Promise<string> {
  const before = start ?? (after.parent ? stepsIn(workspace).byId(after.parent) : undefined);
  return before ? patch(workspace, before.snapshot.work, after.snapshot.work) : "";
}
