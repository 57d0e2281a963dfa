/** `purge`: removes everything that was recorded here. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { recover } from "../../../api/restore/recover.ts";
import { UserError } from "../../../base/errors.ts";
import { logTo } from "../../../base/log.ts";
import { shortSession } from "../../../base/text.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { isEmptyPurge, type PurgePlan, planPurge } from "../../../maintenance/purge/plan.ts";
import { purge } from "../../../maintenance/purge/purge.ts";
import { purgeInIndex } from "../../../search/forget.ts";
import { disable } from "../../../setup/enable.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { purgeCommand } from "./commands.ts";
import { planLines, receiptLines } from "./purge-plan.ts";

type Options = OptionsOf<typeof purgeCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await workspaceOf(io);
  const wanted = { checkpoints: options.checkpoints === true, disable: options.disable === true };
  const plan = await withProgress(io, "Counting", () => planPurge(workspace, wanted));
  const isEmpty = isEmptyPurge(plan);
  if (options.json && (options.dryRun || isEmpty)) io.json({ plan, purged: false });
  else if (isEmpty) io.say("Nothing was recorded; the store is empty.");
  else if (!options.json) for (const line of planLines(plan, workspace, io.out)) io.print(line);
  if (isEmpty) return EXIT.nothing;
  if (options.dryRun) return undefined;
  refuse(plan, options.force === true);
  if (!options.yes && !(await confirm(io, "Delete everything? This cannot be undone.", "--yes"))) {
    io.say("Nothing was changed.");
    return EXIT.nothing;
  }
  const settings = wanted.disable && (await stopRecording(workspace, io));
  await withProgress(io, "Removing", () => purge(workspace, { ...wanted, settings }));
  if (!purgeInIndex(workspace))
    io.say("The search index could not be changed. Rebuild it with `backtrail search --rebuild`.");
  if (options.json) io.json({ plan, purged: true });
  else for (const line of receiptLines(plan, isEnabled(workspace))) io.printMessage(line);
  return undefined;
}

/** Works even if recording is off: earlier recordings still exist. */
async function workspaceOf(io: Io): Promise<Workspace> {
  const workspace = findWorkspace(io.cwd);
  if (!workspace || !existsSync(workspace.storeDir))
    throw new UserError("not-found", "Nothing to delete: nothing is recorded here.");
  logTo(workspace.storeDir);
  await recover(workspace);
  return workspace;
}

/** Returns whether the repository's settings must stay, so that recording does not start again. */
async function stopRecording(workspace: Workspace, io: Io): Promise<boolean> {
  if (!isEnabled(workspace)) return existsSync(join(workspace.storeDir, "settings.json"));
  const { failed, excluded } = await disable(io.cwd, { executable: ownExecutable() });
  const [first] = failed;
  if (!first) return excluded;
  throw new UserError(
    "failed",
    `${first.agent} could not be disconnected, so nothing was removed: ${first.message}`,
    "Fix this and try again, or leave --disable out.",
  );
}

function refuse({ open, forks }: PurgePlan, isForced: boolean): void {
  if (forks.length > 0) {
    throw new UserError(
      "refused",
      `These forks need steps that would be deleted: ${forks.join(", ")}. Nothing was deleted.`,
      "Drop each with `backtrail fork drop`, which asks before work is lost.",
    );
  }
  const [first] = open;
  if (!first || isForced) return;
  throw new UserError(
    "refused",
    `${first.agent} is still open here (session ${shortSession(first.session)}), and would be recorded again. Nothing was removed.`,
    "Close it, or give --force.",
  );
}
