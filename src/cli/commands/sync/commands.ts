/** Command table: checkpoints to and from other repositories. */
import { type CommandSpec, command, JSON_OPTION, lazy } from "../../program/spec.ts";

const syncCommand = command({
  path: "sync",
  group: "Set up",
  summary: "checkpoints to and from other repositories",
  details:
    "Off unless you turn it on: checkpoints stay on this machine. They can be pushed to a remote of this repository or to another one, and fetched from there.",
  examples: [
    ["backtrail sync push origin", "beside your code"],
    ["backtrail sync fetch", "what colleagues have pushed"],
    ["backtrail config set push.enabled true", "with each of your own pushes"],
  ],
});

export const syncPushCommand = command({
  path: "sync push",
  group: "Set up",
  summary: "push the checkpoints to another repository",
  details:
    "Pushes the branch entire/checkpoints/v1: prompts, answers and files' names behind your commits, redacted. What the other side has is fetched and joined first; nothing is ever forced. Without a remote, it goes to the one that the setting push.remote names.",
  arguments: [{ name: "[remote]", help: "a remote's name, or a repository's address" }],
  options: [{ flags: "--anyway", help: "also what looks secret, or is too large for hosts" }, JSON_OPTION],
  examples: [["backtrail sync push origin", "beside your code"]],
});

export const syncFetchCommand = command({
  path: "sync fetch",
  group: "Set up",
  summary: "fetch other people's checkpoints, for `explain` and `why`",
  details:
    "Fetches the branch entire/checkpoints/v1, and checkpoints in refs of their own as newer tools write them. What comes is checked before it is let in, and joined with what is here.",
  arguments: [{ name: "[remote]", help: "a remote's name, or a repository's address (default: push.remote)" }],
  options: [JSON_OPTION],
  examples: [["backtrail sync fetch", "what colleagues have pushed"]],
});

export const syncStatusCommand = command({
  path: "sync status",
  group: "Set up",
  summary: "what was pushed and fetched, and what failed",
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
