/** Renders the result of a bisect: who made the breaking change, what changed, and how to revert it. */
import { oneLine, plural } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { groupTurns, type Turn } from "../../model/turn.ts";
import { readTurnStatuses } from "../../restore/targets/turn-status.ts";
import { changesBetween } from "../../steps/diff.ts";
import { stepsIn } from "../../steps/log.ts";
import type { Break } from "../../trials/bisect/bisect.ts";
import { momentOf, type Point } from "../../trials/bisect/points.ts";
import type { Paint } from "../terminal/io.ts";
import { fileLines } from "./files.ts";
import { described } from "./layout/described.ts";
import { fit, pad, widthOf, wrap } from "./layout/text.ts";
import { age } from "./layout/time.ts";
import { stepJson } from "./step/json.ts";
import { headlineOf, titleOf } from "./timeline/timeline.ts";

interface View {
  paint: Paint;
  columns: number;
  now: Date;
}

const SHOWN = { files: 20, promptLines: 6 } as const;
/** The widths of a step's id, and of an age. */
const WIDTHS = { step: 12, age: 12 } as const;
const MIN_TITLE = 10;

export function bisectLines(workspace: Workspace, found: Break, view: View): string[] {
  const { paint, columns } = view;
  const lines: string[] = [];
  const turn = turnBehind(workspace, found.culprit.step);
  if (found.inconclusive.length > 0) {
    const count = plural(found.inconclusive.length + 1, "state");
    lines.push(paint("bold", `It broke at one of ${count}; the results of the others are inconclusive.`));
    lines.push(...[...found.inconclusive, found.bad].map((point) => `  ${pointLine(point, view)}`), "");
  } else lines.push(paint("bold", verdictOf(found)), "");
  if (turn) {
    const { step, by } = found.culprit;
    const shown = by === "subagent" && step ? { ...turn, head: step, open: false } : turn;
    lines.push(...headlineOf(shown, { ...view, fates: readTurnStatuses(workspace, turn.steps) }));
    const text = by === "subagent" && step ? titleOf(step) : (turn.prompt ?? titleOf(turn.head));
    lines.push(
      ...wrap(oneLine(text), columns - 2)
        .slice(0, SHOWN.promptLines)
        .map((line) => `  ${line}`),
    );
    if (by === "subagent" && turn.prompt)
      lines.push(paint("dim", `  in the turn: ${fit(oneLine(turn.prompt), columns - 15)}`));
  } else lines.push(`${pointLine(found.good, view)}`, `  ${paint("dim", "and then, outside any turn:")}`);
  const entries = found.files.map(({ path, status }) => ({ path, change: status }));
  lines.push(...fileLines(entries, paint, { limit: SHOWN.files }), "");
  const isUndone = turn !== undefined && readTurnStatuses(workspace, turn.steps).of(turn.head) === "undone";
  if (isUndone) lines.push("You have since undone this turn, so something later also breaks it.", "");
  lines.push(...nextSteps(found, turn, isUndone, view));
  return lines;
}

/** A state on one line: step, time, the result of a run if there is one, and as much of the title as fits. */
export function pointLine(point: Point, { paint, columns, now }: View, result = ""): string {
  const step = momentOf(point);
  const commit = point.commit === null ? "" : `commit ${point.commit.slice(0, 12)}`;
  const id = point.isNow ? "now" : (step?.id ?? commit);
  const when = step && !point.isNow ? age(step.time, now) : "";
  const start = [
    paint("magenta", pad(id, WIDTHS.step)),
    paint("dim", pad(when, WIDTHS.age)),
    ...(result ? [result] : []),
  ].join("  ");
  const room = columns - widthOf(start) - 2;
  const title = step && !point.isNow && room >= MIN_TITLE ? fit(`${placeOf(step)}${titleOf(step)}`, room) : "";
  return `${start}  ${title}`.trimEnd();
}

export function bisectJson({ good, bad, inconclusive, culprit, files }: Break) {
  const { by, step } = culprit;
  return {
    found: {
      by,
      agent: step?.agent ?? null,
      session: step?.session ?? null,
      turn: step?.turn ?? null,
      prompt: step?.prompt ?? null,
      subagent: by === "subagent" ? (step?.subagent ?? null) : null,
      step: step && stepJson(step),
      files: changesBetween(files),
    },
    good: pointJson(good),
    bad: pointJson(bad),
    untold: inconclusive.map(pointJson),
  };
}

function pointJson(point: Point) {
  return { step: momentOf(point)?.id ?? null, commit: point.commit, now: point.isNow };
}

function verdictOf({ culprit, good, bad }: Break): string {
  if (culprit.by === "subagent") return "A subagent broke it:";
  if (culprit.by === "turn") return "This turn broke it:";
  if (bad.commit ?? good.commit) return "It broke between these two:";
  return bad.isNow ? "It broke after the last turn:" : "It broke between two turns:";
}

function placeOf(step: Step): string {
  return step.kind === "turn-start" ? "before: " : step.kind === "turn-end" ? "after: " : "";
}

/** The whole turn that a step belongs to. */
function turnBehind(workspace: Workspace, step: Step | null): Turn | undefined {
  if (!step) return undefined;
  const steps = stepsIn(workspace).list({ session: step.session ?? undefined });
  return groupTurns(steps).find((turn) => turn.steps.some(({ id }) => id === step.id));
}

function nextSteps({ good, culprit }: Break, turn: Turn | undefined, isUndone: boolean, view: View): string[] {
  const lines: [string, string][] = [];
  const id = culprit.by === "subagent" ? culprit.step?.id : turn?.head.id;
  if (id !== undefined) {
    if (!isUndone) lines.push([`backtrail undo ${id}`, "undo it, and keep later changes"]);
    lines.push([`backtrail show ${id} --patch`, "show the whole turn"]);
  }
  const target = momentOf(good)?.id ?? good.commit?.slice(0, 12);
  if (target) lines.push([`backtrail rewind ${target}`, "to the last state where it passes"]);
  return described(lines, view.columns, { paint: (text) => view.paint("dim", text) });
}
