/** `enable`: starts recording here. */
import type { InstallReport } from "../../agents/install.ts";
import type { Scope } from "../../agents/profile.ts";
import { getAgent } from "../../agents/registry.ts";
import { printable, shownPath } from "../../base/text.ts";
import type { Config } from "../../config/load.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import { type EnableReport, enable } from "../../lifecycle/enable.ts";
import { ownExecutable } from "../executable.ts";
import { EXIT } from "../exit.ts";
import { admitExternals } from "../external.ts";
import type { Io } from "../io.ts";
import { placeOf } from "../render/place.ts";
import { table } from "../render/table.ts";
import { wrap } from "../render/text.ts";
import { settingsOf } from "../settings.ts";

interface Options {
  agent?: string[];
  scope?: Scope;
  external?: boolean;
  trust?: boolean;
  json?: boolean;
}

const AUDIENCE: Readonly<Record<Scope, string>> = {
  local: "for you, here",
  project: "for everybody who works here",
  user: "for you, everywhere",
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const { config } = settingsOf(findWorkspace(io.cwd));
  await admitExternals(options.agent ?? [], options.external === true, io);
  const report = await enable(io.cwd, {
    agents: options.agent,
    scope: options.scope,
    trust: options.trust,
    executable: ownExecutable(),
    defaultAgent: config.default_agent,
  });
  if (options.json) io.json(jsonOf(report));
  else await tell(report, config, io);
  return report.failed.length > 0 ? EXIT.failed : undefined;
}

function jsonOf(report: EnableReport) {
  const { workspace, installed, failed, found } = report;
  return { enabled: true, root: workspace.root, store: { kind: workspace.kind }, agents: installed, failed, found };
}

async function tell(report: EnableReport, config: Config, io: Io): Promise<void> {
  const { paint } = io.out;
  const { workspace } = report;
  io.print(`${paint("green", "Recording is on")} in ${shownPath(workspace.root)}.`);
  io.print("");
  const rows: string[][] = [];
  const reasons: string[] = [];
  for (const done of report.installed) {
    const name = (await getAgent(done.agent))?.profile.display_name ?? done.agent;
    rows.push([name, whereabouts(done, workspace)]);
    const because = report.found.find(({ agent }) => agent === done.agent)?.because;
    if (because !== undefined) reasons.push(`${printable(name)} (${printable(because)})`);
  }
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  if (reasons.length > 0) for (const line of wrap(`Found: ${reasons.join(", ")}.`, io.out.columns)) io.print(line);
  io.print("");
  io.print("Start the agent as usual; one that is running now may have to be restarted.");
  io.print("Then `backtrail log` shows what it did, and `backtrail rewind` takes it back.");
  if (workspace.kind === "repository" && config.commit_linking !== "never") {
    io.print("Commits get a line that leads to their conversation, for `backtrail why`;");
    io.print("`backtrail config set commit_linking never` turns that off.");
  }

  const note = (text: string) => io.say(`${io.err.paint("cyan", "note:")} ${printable(text)}`);
  if (workspace.kind === "private") {
    note("This folder is no git repository: what is recorded is kept in a private store of yours.");
  }
  if (report.chosenBecause === "default") {
    note("No agent was found on this machine, so the default one was taken. --agent names another.");
  }
  for (const text of report.installed.flatMap(({ notes }) => notes)) note(text);
  if (!config.enabled) note("The setting `enabled` is false here: nothing is recorded until it is true.");
  for (const { agent, message, hint } of report.failed) {
    io.say(`${io.err.paint("red", "error:")} ${agent}: ${printable(message)}${hint ? ` ${printable(hint)}` : ""}`);
  }
}

function whereabouts(done: InstallReport, workspace: Workspace): string {
  if (done.by !== undefined) return `hooks put in place by ${shownPath(done.by)} (${AUDIENCE[done.scope]})`;
  const file = done.files[0]?.file;
  if (file === undefined) return "while `backtrail watch` runs";
  const shown = placeOf(file, workspace.root);
  const state = done.files[0]?.action === "unchanged" ? "hooks already in" : "hooks in";
  return `${state} ${shown} (${AUDIENCE[done.scope]})`;
}
