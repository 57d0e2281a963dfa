/** `disable`: stops recording here and removes our hooks. */

import type { InstallReport } from "../../../agents/hooks/install.ts";
import { isInside } from "../../../base/paths.ts";
import { plural, printable, shownPath } from "../../../base/text.ts";
import type { Outcome } from "../../../edit/record.ts";
import { type DisableReport, disable } from "../../../setup/enable.ts";
import { disableUserScope } from "../../../setup/user-scope/disable.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { disableCommand } from "./commands.ts";

type Options = OptionsOf<typeof disableCommand>;

const DONE: Readonly<Record<string, string>> = {
  restored: "restored",
  removed: "removed (created by Backtrail)",
  edited: "Backtrail's entries removed",
  updated: "Backtrail's entries removed",
  kept: "left in place",
  unchanged: "no entries of Backtrail",
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  if (options.scope === "user") return disableEverywhere(options, io);
  const report = await disable(io.cwd, { agents: options.agent, executable: ownExecutable() });
  const { workspace, removed, failed, left, excluded } = report;
  const code = failed.length > 0 ? EXIT.failed : undefined;
  if (options.json) {
    io.json({ enabled: left.length > 0, agents: removed, failed, left, excluded });
    return code;
  }
  const all = isElsewhereToo(report) ? " and all other worktrees of the repository" : "";
  if (left.length === 0) io.printMessage(`Recording is off in ${shownPath(workspace.root)}${all}.`);
  else io.printMessage(`Still recording: ${left.join(", ")}.`);
  printFiles(removed, workspace.root, io);
  if (excluded) {
    io.say("The hooks in your own settings stay for your other repositories, and do nothing here.");
    io.say("Remove them with `backtrail disable --scope user`.");
  }
  const kept = stepsIn(workspace).list().length;
  if (left.length === 0 && kept > 0) io.say(`${plural(kept, "step")} stay; use them again after \`backtrail enable\`.`);
  for (const note of new Set(removed.flatMap(({ notes }) => notes)))
    io.say(`${io.err.paint("cyan", "note:")} ${printable(note)}`);
  for (const { agent, instead } of removed) {
    if (instead?.by !== "by-hand") continue;
    const left = `You installed the hooks of ${agent} by hand; remove them from its settings. Until then they do nothing here.`;
    io.say(`${io.err.paint("cyan", "note:")} ${printable(left)}`);
  }
  for (const { agent, message } of failed) io.say(`${io.err.paint("red", "error:")} ${agent}: ${printable(message)}`);
  return code;
}

/** Recording is on or off in all worktrees together: `disable` also removes the hooks in the others. */
function isElsewhereToo({ workspace, removed }: DisableReport): boolean {
  if (workspace.kind !== "repository") return false;
  const changed = removed.filter(({ scope }) => scope !== "user").flatMap(({ files }) => files);
  return changed.some(
    ({ file, action }) =>
      action !== "unchanged" && ![workspace.root, workspace.commonDir].some((directory) => isInside(directory, file)),
  );
}

async function disableEverywhere({ agent, json }: Options, io: Io): Promise<number | undefined> {
  const { removed, failed, left } = await disableUserScope(io.cwd, { agents: agent, executable: ownExecutable() });
  const code = failed.length > 0 ? EXIT.failed : undefined;
  if (json) {
    io.json({ agents: removed, failed, left });
    return code;
  }
  if (left.length > 0) io.printMessage(`Still recorded in all your git repositories: ${left.join(", ")}.`);
  else io.printMessage("Your git repositories are no longer recorded, except where you ran `backtrail enable`.");
  printFiles(removed, null, io);
  for (const { agent: id, message } of failed) io.say(`${io.err.paint("red", "error:")} ${id}: ${printable(message)}`);
  return code;
}

function printFiles(removed: readonly InstallReport[], root: string | null, io: Io): void {
  for (const [file, action] of outcomes(removed.flatMap(({ files }) => files)))
    io.print(`  ${placeOf(file, root)}: ${DONE[action] ?? action}`);
}

/** One entry per file, even if several agents had hooks in it: the last change decides. */
function outcomes(files: readonly Outcome[]): Map<string, Outcome["action"]> {
  const last = new Map<string, Outcome["action"]>();
  for (const { file, action } of files) if (action !== "unchanged" || !last.has(file)) last.set(file, action);
  return last;
}
