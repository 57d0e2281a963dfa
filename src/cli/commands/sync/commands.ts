/** Command table: checkpoints to and from other repositories. */
import { JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Set up");

const syncCommand = command("sync", "share checkpoints with other repositories", {
  details:
    "Pushes checkpoints to a remote, and fetches them from there. Off by default: checkpoints stay on this machine until you push them or turn on push.enabled.",
  examples: [
    ["backtrail sync push origin", "to your code's remote"],
    ["backtrail sync fetch", "get colleagues' checkpoints"],
    ["backtrail config set push.enabled true", "with each `git push`"],
  ],
});

export const syncPushCommand = command("sync push", "push checkpoints to another repository", {
  details:
    "Pushes the branch entire/checkpoints/v1: the redacted prompts, answers and file names behind your commits. Fetches and merges the remote's checkpoints first; never forces a push. The default remote is the setting push.remote.",
  arguments: [{ name: "[remote]", help: "a remote's name, or a repository's address" }],
  options: [
    { flags: "--anyway", help: "also push checkpoints that look secret or are too large for hosts" },
    JSON_OPTION,
  ],
  examples: [["backtrail sync push origin", "to your code's remote"]],
});

export const syncFetchCommand = command("sync fetch", "fetch other people's checkpoints for `explain` and `why`", {
  details:
    "Fetches the branch entire/checkpoints/v1, and the checkpoint refs that newer tools write. Validates what it fetched, then merges it with the checkpoints here.",
  arguments: [{ name: "[remote]", help: "a remote's name, or a repository's address (default: push.remote)" }],
  options: [JSON_OPTION],
  examples: [["backtrail sync fetch", "get colleagues' checkpoints"]],
});

export const syncStatusCommand = command("sync status", "show what was pushed and fetched, and what failed", {
  arguments: [{ name: "[remote]", help: "a remote's name, or a repository's address (default: push.remote)" }],
  options: [JSON_OPTION],
  isDefault: true,
});

export const SYNC_COMMANDS: readonly CommandSpec[] = [
  syncCommand,
  lazy(syncPushCommand, () => import("./push.ts")),
  lazy(syncFetchCommand, () => import("./fetch.ts")),
  lazy(syncStatusCommand, () => import("./status.ts")),
];
