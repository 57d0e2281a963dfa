/** `bisect`: finds the turn that broke a command. */

import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { plural, printable } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { resolveTarget } from "../../../restore/targets/resolve.ts";
import { patch } from "../../../steps/diff.ts";
import type { Experiment } from "../../../steps/results/types.ts";
import { type Bisected, type Break, bisect } from "../../../trials/bisect/bisect.ts";
import { momentOf, type Point } from "../../../trials/bisect/points.ts";
import type { Tried } from "../../../trials/trial/trials.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { bisectJson, bisectLines, pointLine } from "../../render/bisect-result.ts";
import { colorDiff } from "../../render/diff.ts";
import { pad } from "../../render/layout/text.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withAbortSignal } from "../../terminal/with-abort-signal.ts";
import type { bisectCommand } from "./commands.ts";
import { duration, missingInCopies, outcomeText, trialFromOptions } from "./options.ts";

type Options = OptionsOf<typeof bisectCommand>;

/** With --verbose, the command's own output goes to stderr: stdout is for the answer. */
const STDERR = 2;
/** The widths of a result and of its time. */
const RESULT = 14;
const TIME = 6;
/** A narrower line has no room for the time. */
const MIN_TIMED = 56;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const experiment = trialFromOptions(workspace, options, io);
  const [good, bad] = [await targetOf(workspace, options.good), await targetOf(workspace, options.bad)];
  const runs: { point: Point; tried: Tried }[] = [];
  const outcome = await withAbortSignal((stop) =>
    bisect(workspace, experiment, {
      good,
      bad,
      stop,
      fresh: options.fresh === true,
      output: options.verbose ? STDERR : "ignore",
      begun: (states) => io.say(`${plural(states, "state")}, about ${plural(Math.ceil(Math.log2(states + 1)), "run")}`),
      report: (point, tried) => {
        runs.push({ point, tried });
        io.say(progressLine(point, tried, io));
      },
    }),
  );
  if (outcome.kind !== "found") throw await nothingFound(workspace, experiment, outcome, options);
  const { found } = outcome;
  const change = options.patch
    ? printable(await patch(workspace, found.good.state.work, found.bad.state.work))
    : undefined;
  if (options.json) {
    const tried = runs.map(({ point, tried: { known, ...result } }) => ({
      step: momentOf(point)?.id ?? null,
      commit: point.commit,
      now: point.isNow,
      ...result,
      known,
    }));
    io.json({ ...bisectJson(found), runs: tried, ...(change === undefined ? {} : { patch: change }) });
  } else {
    const { paint, columns } = io.out;
    const lines = bisectLines(workspace, found, { paint, columns, now: now() });
    if (change) lines.push("", colorDiff(change.trimEnd(), paint));
    io.say("");
    io.print(lines.join("\n"));
  }
  return isExact(found) ? undefined : EXIT.nothing;
}

async function targetOf(workspace: Workspace, text: string | undefined) {
  return text === undefined ? null : resolveTarget(workspace, text);
}

function isExact({ inconclusive }: Break): boolean {
  return inconclusive.length === 0;
}

function progressLine(point: Point, tried: Tried, io: Io): string {
  const { paint, columns } = io.err;
  const time = paint("dim", tried.known ? "known" : duration(tried.milliseconds));
  const verdict = pad(outcomeText(tried, paint), RESULT);
  const result = columns < MIN_TIMED ? verdict : `${verdict}  ${pad(time, TIME)}`;
  return `  ${pointLine(point, { paint, columns: columns - 2, now: now() }, result)}`;
}

async function nothingFound(
  workspace: Workspace,
  experiment: Experiment,
  outcome: Exclude<Bisected, { kind: "found" }>,
  options: Options,
): Promise<UserError> {
  const seeItself = options.verbose ? "" : " Use --verbose to see its output.";
  switch (outcome.kind) {
    case "bad-passes":
      return new UserError(
        "not-found",
        options.bad === undefined ? "The command passes now, so nothing broke it." : "The command passes there.",
        "Give a state where it fails with --bad.",
      );
    case "inconclusive":
      return new UserError(
        "not-found",
        "The command is inconclusive at an end of the search.",
        `Choose other ends with --good and --bad.${seeItself}`,
      );
    default: {
      const [missing] = await missingInCopies(workspace, experiment);
      const where =
        outcome.kind === "good-fails"
          ? "The command already fails at --good."
          : "The command passes in no recorded state.";
      return new UserError(
        "not-found",
        where,
        missing
          ? `${missing} is ignored by git, so the copies don't have it: try --link ${missing}.${seeItself}`
          : `Does it need ignored files? Add them with --link or --copy.${seeItself}`,
      );
    }
  }
}
