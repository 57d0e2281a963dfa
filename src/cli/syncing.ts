/** What the commands about syncing share: where to, and an end at Ctrl-C. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../base/errors.ts";
import { logTo } from "../base/log.ts";
import { oneLine } from "../base/text.ts";
import { findRemote, type Remote } from "../checkpoints/sync/remote.ts";
import { findWorkspace, isEnabled, requireWorkspace, type Workspace } from "../git/workspace.ts";
import type { Io } from "./io.ts";
import { settingsOf } from "./settings.ts";

export interface SyncPlace {
  workspace: Workspace;
  remote: Remote;
  seconds: number;
  /** It is where the setting says. */
  isChosen: boolean;
  /** Pushed in the background with the user's own pushes. */
  enabled: boolean;
}

/** Conversations go nowhere that nobody has named: without a word from the user, `mustChoose` has them name the place. */
export async function syncPlace(
  io: Io,
  named: string | undefined,
  { mustChoose }: { mustChoose: boolean },
): Promise<SyncPlace> {
  // Steps are no business of a sync: nothing is put right first, and nothing that waits is started.
  const workspace = findWorkspace(io.cwd) ?? requireWorkspace(io.cwd);
  if (isEnabled(workspace)) logTo(workspace.storeDir);
  const { config, settings } = settingsOf(workspace);
  const chosen = config.push.enabled || settings.has("push.remote");
  if (named === undefined && mustChoose && !chosen) {
    throw new UserError(
      "usage",
      "No place is chosen for the checkpoints.",
      "Name it: `backtrail sync push origin`. `backtrail config set push.remote origin` chooses it for good.",
    );
  }
  const { push } = config;
  const remote = await findRemote(workspace, placeOf(io, named ?? push.remote));
  const isChosen = named === undefined || named === push.remote;
  return { workspace, remote, seconds: push.timeout, isChosen, enabled: push.enabled };
}

export function shownName(remote: Remote): string {
  return oneLine(remote.name);
}

/** The other machine is let go of, and the command ends as one that was interrupted. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    return await work(controller.signal);
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}

/** A path is meant from where the user stands; git works from the work tree's root. */
function placeOf(io: Io, text: string): string {
  const isPath = /^\.{0,2}\//.test(text) || text === "." || text === "..";
  return isPath && existsSync(resolve(io.cwd, text)) ? resolve(io.cwd, text) : text;
}
