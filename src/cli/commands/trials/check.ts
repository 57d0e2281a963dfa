/** `check`: manages the command that checks each turn's result in the background. */

import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { isHeld } from "../../../base/fs/lock.ts";
import { oneLine } from "../../../base/text.ts";
import { loadConfig } from "../../../config/load.ts";
import { fileOf, setValue, unsetValue } from "../../../config/write.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Step } from "../../../model/step.ts";
import { captureOptions } from "../../../recording/dispatcher.ts";
import { startWorker } from "../../../recording/start-worker.ts";
import { lastGreen, readCheckResults } from "../../../restore/targets/check-results.ts";
import { activeSteps } from "../../../restore/targets/history.ts";
import { currentSnapshot } from "../../../steps/diff.ts";
import { sameFiles, stateOfSnapshot, stateOfStep } from "../../../steps/results/types.ts";
import { checkedPath } from "../../../trials/bisect/bisect.ts";
import { checkLock } from "../../../trials/check/background.ts";
import { checkStep, experimentFrom, newestTurnEnd } from "../../../trials/check/check.ts";
import { Trials, type Tried } from "../../../trials/trial/trials.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { fit, widthOf } from "../../render/layout/text.ts";
import { age } from "../../render/layout/time.ts";
import { checkMark, titleOf } from "../../render/timeline/timeline.ts";
import { settingsOf } from "../../shared/settings.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import { withAbortSignal } from "../../terminal/with-abort-signal.ts";
import type { checkCommand } from "./commands.ts";
import { duration, outcomeText } from "./options.ts";

type Options = OptionsOf<typeof checkCommand>;

const STDERR = 2;
const SHOWN = 5;
const KEYS = ["checks.command", "checks.link", "checks.copy", "checks.timeout"];

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const command = options.command ?? [];
  const asks = command.length === 1 && command[0] === "status";
  if (options.off) return turnOff(workspace, options, io);
  if (command.length > 0 && !asks) await setUp(workspace, command, options, io);
  if (options.now) return checkNow(workspace, options, io);
  if (command.length === 0 || asks) return status(workspace, options, io);
  startWorker(workspace);
  if (options.json) io.json({ command });
  return undefined;
}

async function setUp(workspace: Workspace, command: string[], options: Options, io: Io): Promise<void> {
  const file = fileOf("local", workspace);
  const values: [string, unknown][] = [
    ["checks.command", command],
    ["checks.link", options.link?.map(checkedPath)],
    ["checks.copy", options.copy?.map(checkedPath)],
    ["checks.timeout", options.timeout],
  ];
  for (const [key, value] of values) {
    if (value === undefined) unsetValue(file, "local", key);
    else setValue(file, "local", key, value);
  }
  const holds = settingsOf(workspace).config.checks.command;
  if (JSON.stringify(holds) !== JSON.stringify(command)) {
    throw new UserError(
      "refused",
      "This has no effect: BACKTRAIL_CHECKS_COMMAND overrides it.",
      "`backtrail config` shows where settings come from.",
    );
  }
  if (options.json) return;
  io.say(`Each turn's end will be checked with: ${shownCommand(command)}`);
  io.say("Checks run in the background, in a throwaway copy, while no agent works. `backtrail log` shows what passed.");
}

function turnOff(workspace: Workspace, options: Options, io: Io): number | undefined {
  const file = fileOf("local", workspace);
  const changed = KEYS.map((key) => unsetValue(file, "local", key)).includes(true);
  const left = settingsOf(workspace).config.checks.command;
  if (options.json) io.json({ command: left.length > 0 ? left : null, changed });
  else if (left.length > 0)
    io.say(`Another setting still has ${shownCommand(left)}; \`backtrail config\` shows its origin.`);
  else io.say(changed ? "Checks are off. Earlier results are kept." : "No check was set up.");
  return changed ? undefined : EXIT.nothing;
}

/** Checks the end of the newest turn, and also the current files if the user has changed them since. */
async function checkNow(workspace: Workspace, options: Options, io: Io): Promise<number | undefined> {
  const experiment = experimentFrom(settingsOf(workspace).config);
  if (!experiment) throw nothingSetUp();
  const step = newestTurnEnd(workspace);
  const current = stateOfSnapshot(await currentSnapshot(workspace, captureOptions(loadConfig(workspace))));
  const isChanged = !step || !sameFiles(stateOfStep(step), current);
  const [atStep, now] = await withAbortSignal(async (stop) => {
    const output = options.verbose ? STDERR : "ignore";
    using trials = new Trials(workspace, experiment, { output, stop, by: "check", fresh: true });
    return withProgress(io, "Checking", async () => [
      step ? await checkStep(trials, step) : null,
      isChanged ? await trials.run(current, null) : null,
    ]);
  });
  if (options.json) io.json({ step: step?.id ?? null, ...resultJson(atStep ?? now), now: now && resultJson(now) });
  else {
    if (step && atStep) io.print(`${line(step, atStep.verdict, io, resultText(atStep, io))}`);
    if (now) io.print(`${checkMark(now.verdict, io.out.paint) || "?"} current files: ${resultText(now, io)}`);
  }
  const verdicts = [atStep?.verdict, now?.verdict];
  return verdicts.includes("fail") ? EXIT.failed : verdicts.includes("skip") ? EXIT.nothing : undefined;
}

function resultJson(tried: Tried | null | undefined) {
  return {
    verdict: tried?.verdict ?? null,
    code: tried?.code ?? null,
    milliseconds: tried?.milliseconds ?? null,
  };
}

function resultText(tried: Tried, io: Io): string {
  return `${outcomeText(tried, io.out.paint)}, ${duration(tried.milliseconds)}`;
}

function status(workspace: Workspace, options: Options, io: Io): number | undefined {
  const { config, settings } = settingsOf(workspace);
  const { command } = config.checks;
  const stamps = readCheckResults(workspace);
  const green = lastGreen(workspace);
  const running = isHeld(checkLock(workspace));
  const recent: { step: Step; verdict: string }[] = [];
  for (const step of activeSteps(workspace)) {
    const verdict = step.kind === "turn-end" ? stamps.of(step) : undefined;
    if (verdict && recent.push({ step, verdict }) === SHOWN) break;
  }
  if (options.json) {
    io.json({
      command: command.length > 0 ? command : null,
      from: settings.get("checks.command")?.from ?? null,
      running,
      lastGreen: green?.id ?? null,
      recent: recent.map(({ step, verdict }) => ({ step: step.id, verdict })),
    });
    return undefined;
  }
  if (command.length === 0) io.printMessage("Nothing is checked here.");
  else io.printMessage(`Checked after each turn: ${shownCommand(command)}${running ? " (running now)" : ""}`);
  for (const { step, verdict } of recent) io.print(`  ${line(step, verdict, io)}`);
  if (green) io.printMessage(`\`backtrail rewind last-green\` goes to ${io.out.paint("magenta", green.id)}.`);
  if (command.length === 0) io.say("Check each turn in the background with `backtrail check -- npm test`.");
  return undefined;
}

/** A step with its mark, and the result before the title if there is one. */
function line(step: Step, verdict: string, io: Io, result = ""): string {
  const { paint, columns } = io.out;
  const when = age(step.time, now());
  const title = fit(titleOf(step), Math.max(20, columns - step.id.length - when.length - widthOf(result) - 12));
  const parts = [paint("magenta", step.id), paint("dim", when), ...(result ? [result] : []), title];
  return `${checkMark(verdict, paint)} ${parts.join("  ")}`;
}

function shownCommand(command: readonly string[]): string {
  return oneLine(command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" "));
}

function nothingSetUp(): UserError {
  return new UserError("usage", "No check is set up here.", "Name the command: backtrail check --now -- npm test");
}
