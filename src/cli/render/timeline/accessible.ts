/** Renders the timeline for screen readers: sentences, one fact per line, no symbols and no drawn lines. */
import { oneLine, plural, shortSession, shownPath } from "../../../base/text.ts";
import type { Step } from "../../../model/step.ts";
import { type Turn, tasksOf } from "../../../model/turn.ts";
import { entriesOf } from "../files.ts";
import { age } from "../layout/time.ts";
import { forkTitle, type TimelineOptions, titleOf, turnNumber } from "./timeline.ts";

const SHOWN_NAMES = 10;
const VERDICTS: Readonly<Record<string, string>> = { pass: "Check passed.", fail: "Check failed." };

export function accessibleTimeline(turns: readonly Turn[], options: TimelineOptions): string[] {
  return turns.flatMap((turn) => [...entry(turn, options), ""]).slice(0, -1);
}

function entry({ head, steps, prompt, open }: Turn, { now, fates, verdictOf, patchOf }: TimelineOptions): string[] {
  const who = [head.agent && oneLine(head.agent), head.session && `session ${shortSession(head.session)}`];
  const back = fates?.turnsBack(head) ?? null;
  const facts = [back !== null && `Turn ${turnNumber(back)}`, ...who, age(head.time, now), `step ${head.id}`];
  const lines = [`${facts.filter(Boolean).join(", ")}.`];
  const about = titleOf(open && head.kind !== "turn-start" ? { ...head, kind: "turn-start" } : head, prompt);
  lines.push(prompt === null ? `${about}.` : `Prompt: ${about}`, ...filesSpoken(head));
  const start = steps.find(({ kind }) => kind === "turn-start");
  if (start && fates?.changedBefore(start)) lines.push("Files were changed by hand before.");
  const verdict = VERDICTS[verdictOf?.(head) ?? ""];
  if (verdict) lines.push(verdict);
  const fate = fates?.of(head);
  if (fate) lines.push(fate === "undone" ? "This turn was undone." : "This turn was rewound.");
  else if (open) lines.push("This turn is not finished.");
  if (head.interrupted) lines.push("It was interrupted.");
  for (const task of tasksOf({ head, steps, prompt, open })) {
    const undone = fates?.of(task) === "undone" ? ", undone" : "";
    lines.push(`Subagent ${titleOf(task)}, ${plural(entriesOf(task.files).length, "file")}${undone}.`);
  }
  for (const fork of fates?.forks(steps) ?? []) lines.push(`Has a ${forkTitle(fork)}.`);
  lines.push(...(patchOf?.(head) ?? []));
  return lines;
}

function filesSpoken({ files }: Step): string[] {
  return (["added", "modified", "deleted"] as const).flatMap((change) => {
    const paths = files[change];
    if (paths.length === 0) return [];
    const shown = paths.slice(0, SHOWN_NAMES).map(shownPath).join(", ");
    const more = paths.length > SHOWN_NAMES ? ` and ${paths.length - SHOWN_NAMES} more` : "";
    return [`${plural(paths.length, "file")} ${change}: ${shown}${more}.`];
  });
}
