/** Shared by the sync commands: choosing the remote, and stopping on Ctrl-C. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../../base/errors.ts";
import { logTo } from "../../base/log.ts";
import { oneLine } from "../../base/text.ts";
import { findRemote, type Remote } from "../../checkpoints/sync/remote.ts";
import { findWorkspace, isEnabled, requireWorkspace, type Workspace } from "../../git/workspace.ts";
import { confirm, interrupted } from "../terminal/ask.ts";
import type { Io } from "../terminal/io.ts";
import { settingsOf } from "./settings.ts";

export interface SyncPlace {
  workspace: Workspace;
  remote: Remote;
  seconds: number;
  /** Whether this is the configured remote. */
  isChosen: boolean;
  /** Whether checkpoints are pushed in the background with the user's own pushes. */
  enabled: boolean;
}

/**
 * Conversations are only sent to a remote that the user named: while `push.remote` has its default value, `mustChoose`
 * asks, and refuses without a terminal.
 */
export async function syncPlace(
  io: Io,
  named: string | undefined,
  { mustChoose }: { mustChoose: boolean },
): Promise<SyncPlace> {
  // A sync does not touch steps, so it repairs nothing first and starts no pending work.
  const workspace = findWorkspace(io.cwd) ?? requireWorkspace(io.cwd);
  if (isEnabled(workspace)) logTo(workspace.storeDir);
  const { config, settings } = settingsOf(workspace);
  const chosen = config.push.enabled || settings.has("push.remote");
  const { push } = config;
  const mustAsk = named === undefined && mustChoose && !chosen;
  if (mustAsk && !io.interactive) {
    throw new UserError(
      "usage",
      "No remote is chosen for the checkpoints.",
      `Name the remote the first time: \`backtrail sync push ${push.remote}\`; or choose it with \`backtrail config set push.remote ${push.remote}\`.`,
    );
  }
  const remote = await findRemote(workspace, placeOf(io, named ?? push.remote));
  if (mustAsk) {
    io.say("Checkpoints hold the prompts and answers behind your commits.");
    if (!(await confirm(io, `Push them to ${shownName(remote)}?`, `the remote: backtrail sync push ${push.remote}`)))
      throw interrupted();
  }
  const isChosen = named === undefined || named === push.remote;
  return { workspace, remote, seconds: push.timeout, isChosen, enabled: push.enabled };
}

export function shownName(remote: Remote): string {
  return oneLine(remote.name);
}

/** Aborts `work` on Ctrl-C or SIGTERM, which drops the connection and ends the command as interrupted. */
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

/** The user's path is relative to the current directory, but git runs in the work tree's root. */
function placeOf(io: Io, text: string): string {
  const isPath = /^\.{0,2}\//.test(text) || text === "." || text === "..";
  return isPath && existsSync(resolve(io.cwd, text)) ? resolve(io.cwd, text) : text;
}
