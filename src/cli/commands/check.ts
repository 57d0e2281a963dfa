/** `check`: a command that tells, turn by turn and in the background, whether what the agents left works. */
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { isHeld } from "../../base/lock.ts";
import { oneLine } from "../../base/text.ts";
import { fileOf, setValue, unsetValue } from "../../config/write.ts";
import type { Workspace } from "../../git/workspace.ts";
import { startWorker } from "../../lifecycle/background.ts";
import { broughtPath } from "../../restore/bisect/bisect.ts";
import { checkLock } from "../../restore/check/background.ts";
import { checkStep, experimentFrom, newestTurnEnd } from "../../restore/check/check.ts";
import { lastGreen, stampsOf } from "../../restore/check/stamps.ts";
import { wayHere } from "../../restore/timeline.ts";
import { Trials } from "../../restore/trial/trials.ts";
import type { Step } from "../../steps/model.ts";
import { excludeFromStatus } from "../exclude.ts";
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";
import { withProgress } from "../progress.ts";
import { fit } from "../render/text.ts";
import { age } from "../render/time.ts";
import { stampMark, titleOf } from "../render/timeline.ts";
import { settingsOf } from "../settings.ts";
import { stoppable } from "../stopping.ts";
import { duration, type ExperimentOptions, outcomeText } from "../trying.ts";
import { openWorkspace } from "../workspace.ts";

interface Options extends ExperimentOptions {
  now?: boolean;
  off?: boolean;
  verbose?: boolean;
  json?: boolean;
}

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
  const file = fileOf("local", workspace.root);
  const values: [string, unknown][] = [
    ["checks.command", command],
    ["checks.link", options.link?.map(broughtPath)],
    ["checks.copy", options.copy?.map(broughtPath)],
    ["checks.timeout", options.timeout],
  ];
  for (const [key, value] of values) {
    if (value === undefined) unsetValue(file, "local", key);
    else setValue(file, "local", key, value);
  }
  await excludeFromStatus(workspace, ".backtrail/settings.local.json");
  const holds = settingsOf(workspace).config.checks.command;
  if (JSON.stringify(holds) !== JSON.stringify(command)) {
    throw new UserError(
      "refused",
      "It does not count here: git tracks .backtrail/settings.local.json, or something else overrides it.",
      "`backtrail config` shows where settings come from.",
    );
  }
  if (options.json) return;
  io.say(`Each turn's end will be checked with: ${shownCommand(command)}`);
  io.say("In the background, while no agent works, in a throwaway copy. `backtrail log` shows what passed.");
}

function turnOff(workspace: Workspace, options: Options, io: Io): number | undefined {
  const file = fileOf("local", workspace.root);
  const changed = KEYS.map((key) => unsetValue(file, "local", key)).includes(true);
  const left = settingsOf(workspace).config.checks.command;
  if (options.json) io.json({ command: left.length > 0 ? left : null, changed });
  else if (left.length > 0)
    io.say(`Another setting still says ${shownCommand(left)}; \`backtrail config\` shows where it comes from.`);
  else io.say(changed ? "Nothing is checked any more. What is known stays." : "No check was set up.");
  return changed ? undefined : EXIT.nothing;
}

async function checkNow(workspace: Workspace, options: Options, io: Io): Promise<number | undefined> {
  const experiment = experimentFrom(settingsOf(workspace).config);
  if (!experiment) throw nothingSetUp();
  const step = newestTurnEnd(workspace);
  if (!step)
    throw new UserError("not-found", "No turn has ended here yet.", "Start an agent and give it something to do.");
  const tried = await stoppable(async (stop) => {
    const output = options.verbose ? STDERR : "ignore";
    using trials = new Trials(workspace, experiment, { output, stop, by: "check", fresh: true });
    return withProgress(io, "Checking", () => checkStep(trials, step));
  });
  if (options.json)
    io.json({ step: step.id, verdict: tried.verdict, code: tried.code, milliseconds: tried.milliseconds });
  else
    io.print(`${line(step, tried.verdict, io)}: ${outcomeText(tried, io.out.paint)}, ${duration(tried.milliseconds)}`);
  return tried.verdict === "pass" ? undefined : tried.verdict === "skip" ? EXIT.nothing : EXIT.failed;
}

function status(workspace: Workspace, options: Options, io: Io): number | undefined {
  const { config, settings } = settingsOf(workspace);
  const { command } = config.checks;
  const stamps = stampsOf(workspace);
  const green = lastGreen(workspace);
  const running = isHeld(checkLock(workspace));
  const recent: { step: Step; verdict: string }[] = [];
  for (const step of wayHere(workspace)) {
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
  if (command.length === 0) io.print("Nothing is checked here.");
  else io.print(`Checked after each turn: ${shownCommand(command)}${running ? " (running now)" : ""}`);
  for (const { step, verdict } of recent) io.print(`  ${line(step, verdict, io)}`);
  if (green) io.print(`\`backtrail rewind last-green\` goes to ${io.out.paint("magenta", green.id)}.`);
  if (command.length === 0) io.say("`backtrail check -- npm test` checks each turn in the background.");
  return undefined;
}

function line(step: Step, verdict: string, io: Io): string {
  const { paint, columns } = io.out;
  const when = age(step.time, now());
  const title = fit(titleOf(step), Math.max(20, columns - step.id.length - when.length - 12));
  return `${stampMark(verdict, paint)} ${paint("magenta", step.id)}  ${paint("dim", when)}  ${title}`;
}

function shownCommand(command: readonly string[]): string {
  return oneLine(command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" "));
}

function nothingSetUp(): UserError {
  return new UserError("usage", "No check is set up here.", "Name the command: backtrail check --now -- npm test");
}
