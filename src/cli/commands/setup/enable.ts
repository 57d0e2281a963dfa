/** `enable`: starts recording here. */

import { faultyProfiles } from "../../../agents/authoring/faults.ts";
import type { Scope } from "../../../agents/contract/profile.ts";
import type { InstallReport } from "../../../agents/hooks/install.ts";
import { getAgent } from "../../../agents/registry/registry.ts";
import { printable, shownPath } from "../../../base/text.ts";
import { sharesCheckpoints } from "../../../checkpoints/branch/location.ts";
import { isEntireEnabled } from "../../../checkpoints/entire/traces.ts";
import type { Config } from "../../../config/load.ts";
import { fileOf, setValue } from "../../../config/write.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { type EnableReport, enable } from "../../../setup/enable.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { table } from "../../render/layout/table.ts";
import { entireText } from "../../render/words/setup/entire.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { settingsOf } from "../../shared/settings.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { admitExternals } from "./admit-external.ts";
import type { enableCommand } from "./commands.ts";

type Options = OptionsOf<typeof enableCommand>;

const AUDIENCE: Readonly<Record<Scope, string>> = {
  local: "for you, here",
  project: "for everybody who works here",
  user: "for you, in every repository that you enable",
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const { config } = settingsOf(findWorkspace(io.cwd));
  await admitExternals(options.agent ?? [], options.external === true, io);
  const report = await enable(io.cwd, {
    agents: options.agent,
    scope: options.scope,
    trust: options.trust,
    mcp: options.mcp,
    commands: options.commands,
    force: options.force,
    executable: ownExecutable(),
    defaultAgent: config.default_agent,
  });
  if (options.strategy !== undefined && report.here === "recorded")
    setValue(fileOf("local", report.workspace), "local", "strategy", options.strategy);
  if (report.entire) report.installed[0]?.notes.push(entireText(report.entire).join(" "));
  if (options.json) io.json(jsonOf(report));
  else await tell(report, config, options.strategy, io);
  return report.failed.length > 0 ? EXIT.failed : undefined;
}

function jsonOf(report: EnableReport) {
  const { workspace, installed, failed, found, obstacles } = report;
  const store = { kind: workspace.kind };
  const root = { enabled: report.here === "recorded", root: workspace.root, store };
  return { ...root, everywhere: report.everywhere, agents: installed, failed, found, obstacles };
}

async function tell(report: EnableReport, config: Config, strategy: Options["strategy"], io: Io): Promise<void> {
  const { paint } = io.out;
  const { workspace } = report;
  const where = report.everywhere ? "all your git repositories" : shownPath(workspace.root);
  io.printMessage(`${paint("green", "Recording is on")} in ${where}.`);
  io.print("");
  const rows: string[][] = [];
  const reasons: string[] = [];
  for (const done of report.installed) {
    const name = (await getAgent(done.agent))?.profile.display_name ?? done.agent;
    rows.push([name, whereabouts(done, report)]);
    const because = report.found.find(({ agent }) => agent === done.agent)?.because;
    if (because !== undefined) reasons.push(`${printable(name)} (${printable(because)})`);
  }
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  if (reasons.length > 0) io.printMessage(`Found: ${reasons.join(", ")}.`);
  io.print("");
  tellStart(report.installed, io);
  io.printMessage("Then `backtrail log` shows what it did, and `backtrail rewind` undoes it.");
  if (report.everywhere) tellEverywhere(report, io);
  if (report.here === "recorded" && workspace.kind === "repository" && config.commit_linking !== "never") {
    io.printMessage(
      `Commits ${report.everywhere ? "here " : ""}get an \`Entire-Checkpoint\` line that leads to their conversation, for \`backtrail why\`; \`backtrail config set commit_linking never\` turns that off.`,
    );
  }

  if (strategy === "auto-commit") io.printMessage("Each turn that changes files is committed (strategy auto-commit).");
  else if (strategy !== undefined)
    io.printMessage("You or the agent commit; Backtrail does not (strategy manual-commit).");

  const note = (text: string) => io.say(`${io.err.paint("cyan", "note:")} ${printable(text)}`);
  if (report.here === "recorded" && workspace.kind === "private") {
    note("This folder is not a git repository: the record is in your private store.");
  }
  if (report.chosenBecause === "default") {
    note("No agent was found on this machine, so the default agent was connected. Choose another with --agent.");
  }
  for (const text of report.installed.flatMap(({ notes }) => notes)) note(text);
  for (const id of await faultyProfiles(report.installed.map(({ agent }) => agent)))
    note(`Something is wrong in your profile ${id}.json; \`backtrail agents check ${id}\` says what.`);
  if (workspace.kind === "repository" && (await isEntireEnabled(workspace))) {
    note(
      sharesCheckpoints(workspace)
        ? "Entire and Backtrail both write to the branch entire/checkpoints/v1, and Entire's pre-push hook pushes it."
        : "Entire's pre-push hook pushes the branch entire/checkpoints/v1. Backtrail reads it and keeps its own checkpoints elsewhere.",
    );
  }
  for (const done of report.installed) tellByHand(done, io);
  if (!config.enabled) note("The setting `enabled` is false here: nothing is recorded until it is true.");
  for (const { message, hint } of report.obstacles)
    io.say(`${io.err.paint("yellow", "warning:")} ${printable(`${message} ${hint}`)}`);
  for (const { agent, message, hint } of report.failed) {
    io.say(`${io.err.paint("red", "error:")} ${agent}: ${printable(message)}${hint ? ` ${printable(hint)}` : ""}`);
  }
}

/** How its turns get recorded: an agent without hooks has none unless `run` starts it. */
function tellStart(installed: readonly InstallReport[], io: Io): void {
  const isRun = ({ instead }: InstallReport) => instead?.by === "runs";
  if (!installed.every(isRun)) io.printMessage("Start the agent as usual; restart an agent that is already running.");
  for (const { agent } of installed.filter(isRun))
    io.printMessage(`Give ${agent} its tasks with: backtrail run --agent ${agent} "…"`);
}

/** The commands of hooks that the user makes. */
function tellByHand({ agent, instead }: InstallReport, io: Io): void {
  if (instead?.by !== "by-hand") return;
  io.print("");
  io.printMessage(`Install these commands as hooks of ${agent}; each reads the event's JSON from stdin:`);
  const rows = instead.commands.map(({ event, matcher, command }) => [
    printable(matcher === undefined ? event : `${event} (${matcher})`),
    printable(command),
  ]);
  for (const [event = "", command = ""] of rows) io.print(`  ${event}: ${command}`);
}

/** Reports what `--scope user` covers, and what it does not. */
function tellEverywhere({ here, workspace }: EnableReport, io: Io): void {
  io.printMessage(
    "A repository's store is created when an agent first works there. Not recorded: repositories in `scope.exclude`, those where you run `backtrail disable`, and folders without git. Commits are linked to their conversations only where you run `backtrail enable`.",
  );
  const place = shownPath(workspace.root);
  if (here === "not-a-repository") io.printMessage(`${place} is not a git repository, so it is not recorded itself.`);
  else if (here !== "recorded") io.printMessage(`${place} itself is not recorded: \`backtrail status\` says why.`);
}

function whereabouts(done: InstallReport, { workspace, everywhere }: EnableReport): string {
  const audience = everywhere && done.scope === "user" ? "for you, in every git repository" : AUDIENCE[done.scope];
  if (done.by !== undefined) return `hooks put in place by ${shownPath(done.by)} (${audience})`;
  const file = done.files[0]?.file;
  if (done.instead?.by === "by-hand") return "by hooks that you install (below)";
  if (done.instead?.by === "runs") return "when `backtrail run` starts it";
  if (file === undefined) return "while `backtrail watch` runs";
  const shown = placeOf(file, workspace.root);
  const state = done.files[0]?.action === "unchanged" ? "hooks already in" : "hooks in";
  return `${state} ${shown} (${audience})`;
}
