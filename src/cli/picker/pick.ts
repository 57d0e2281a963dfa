/** Lets the user pick a step: full screen with a preview, or a numbered list if the terminal cannot move its cursor. */
import { emitKeypressEvents } from "node:readline";
import { now } from "../../base/clock.ts";
import { messageOf, UserError } from "../../base/errors.ts";
import { oneLine, plural } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { readCheckResults } from "../../restore/targets/check-results.ts";
import { readTurnStatuses } from "../../restore/targets/turn-status.ts";
import { patch } from "../../steps/diff.ts";
import { findStep, isOnTimeline, listSteps } from "../../steps/list.ts";
import { fit, widthOf } from "../render/layout/text.ts";
import { age } from "../render/layout/time.ts";
import { turnNumber } from "../render/timeline/timeline.ts";
import { askLine, interrupted } from "../terminal/ask.ts";
import type { Io } from "../terminal/io.ts";
import { entriesFrom, type PickerEntry, stepOf } from "./entries.ts";
import type { Purpose } from "./purpose.ts";
import { begin, type Key, press } from "./state.ts";
import { draw } from "./view.ts";

const NUMBERED = 20;
const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";
const PREVIEW_LINES = 400;

/** `session` restricts the list to one session. */
export async function pickStep(workspace: Workspace, io: Io, purpose: Purpose, session?: string): Promise<Step> {
  const steps = listSteps(workspace, session === undefined ? {} : { session });
  const known = { fates: readTurnStatuses(workspace, steps), verdictOf: readCheckResults(workspace).of };
  const entries = entriesFrom(steps.filter(isOnTimeline), known).filter(purpose.offers);
  if (entries.length === 0) {
    throw new UserError("not-found", purpose.nothing, "Start an agent and give it something to do.");
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
    if (older > 0) io.say(`     ${plural(older, "older one")}: type m for more.`);
    const answer = await askLine(`Number${sides ? " (with + for after that turn)" : ""}, or nothing to stop: `);
    if (answer === "") throw interrupted();
    if (older > 0 && /^m(ore)?$/i.test(answer)) continue;
    const [, number, plus] = /^(\d+)(\+?)$/.exec(answer) ?? [];
    const chosen = number === undefined ? undefined : shown[Number(number) - 1];
    if (!chosen || (plus === "+" && !sides))
      throw new UserError("usage", `"${oneLine(answer)}" is none of 1 to ${shown.length}.`);
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
  const { stdin, stderr } = process;
  const diffs = new DiffPreviews(workspace, () => render());
  let state = begin(entries, purpose.sides);
  let ended = false;

  const render = () => {
    if (ended) return;
    const columns = stderr.columns || io.err.columns;
    const rows = stderr.rows || io.err.rows;
    const { paint } = io.err;
    const lines = draw(state, { columns, rows, paint, now: now(), purpose, diffOf: (entry) => diffs.of(entry) });
    stderr.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`);
  };

  return new Promise((resolve, reject) => {
    const end = () => {
      ended = true;
      stdin.off("keypress", onKey);
      stderr.off("resize", render);
      process.off("SIGTERM", onSignal);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write(LEAVE_SCREEN);
    };
    const onSignal = () => {
      end();
      reject(interrupted());
    };
    const onKey = (_text: string | undefined, key: Key) => {
      const outcome = press(state, key);
      if ("state" in outcome) {
        state = outcome.state;
        render();
        return;
      }
      end();
      if ("picked" in outcome) resolve(stepOf(outcome.picked, outcome.after));
      else reject(interrupted());
    };
    emitKeypressEvents(stdin);
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on("keypress", onKey);
    stderr.on("resize", render);
    process.once("SIGTERM", onSignal);
    stderr.write(ENTER_SCREEN);
    render();
  });
}

/** git computes the diffs while the list is already visible; the screen is redrawn when a diff arrives. */
class DiffPreviews {
  readonly #workspace: Workspace;
  readonly #arrived: () => void;
  readonly #known = new Map<string, string>();
  #making = false;

  constructor(workspace: Workspace, arrived: () => void) {
    this.#workspace = workspace;
    this.#arrived = arrived;
  }

  of(entry: PickerEntry): string | undefined {
    const known = this.#known.get(entry.after.id);
    if (known === undefined && !this.#making) void this.#make(entry);
    return known;
  }

  async #make(entry: PickerEntry): Promise<void> {
    this.#making = true;
    const { after } = entry;
    try {
      const before = entry.before ?? (after.parent ? findStep(this.#workspace, after.parent) : undefined);
      const text = before ? await patch(this.#workspace, before.snapshot.work, after.snapshot.work) : "";
      this.#known.set(after.id, text.split("\n", PREVIEW_LINES).join("\n"));
    } catch (error) {
      this.#known.set(after.id, messageOf(error));
    }
    this.#making = false;
    this.#arrived();
  }
}
