/** Command table: maintenance of the store and the installation, and commands that other programs call. */
import { DRY_RUN, JSON_OPTION, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Set up");

export const cleanCommand = command("clean", "delete expired steps and finished run worktrees", {
  details:
    "Deletes steps, imported sessions, stored transcripts, handoffs and commits of dropped forks that are older " +
    "than `retention.days`, the oldest steps beyond `retention.max_size`, and files that restores kept after 90 days (or " +
    "`retention.days`, if that is longer). The background worker does the same once a day. Also deletes finished worktrees of " +
    "runs: those in which everything is committed and on another branch. Shows first what and how much. Named steps stay, and " +
    "so does every worktree with work in it.",
  options: [DRY_RUN, YES, JSON_OPTION],
});

export const forgetCommand = command("forget", "delete a conversation from the record", {
  details:
    "Deletes a session (given by its id, or by text in it) with its steps, its transcript, its metadata and the secrets that were redacted in it. Given a step, deletes that step. A new commit removes the session from checkpoints; earlier commits of their branch keep it until you rewrite that history, and the output says how. The agent's own transcript stays.",
  arguments: [{ name: "<what>", help: "a session, a step, or text from a conversation", completes: "session" }],
  options: [
    { flags: "--conversation-only", help: "keep the steps, without the conversation" },
    DRY_RUN,
    YES,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail forget 5f0f2b1e", "a session"],
    ['backtrail forget "falcon" --dry-run', "every session that says it"],
    ["backtrail forget 5f0f2b1e --conversation-only", "the conversation, not the code"],
  ],
});

export const purgeCommand = command("purge", "delete everything that was recorded here", {
  details:
    "Deletes every step, conversation and checkpoint of this repository or folder, with their refs, files and objects. Your files, branches and commits stay, and so do the agents' transcripts and the logs of runs in .aiwr. Commits keep their `Entire-Checkpoint` line. Recording continues, unless you give --disable. Shows first what it would delete. This cannot be undone.",
  options: [
    { flags: "--checkpoints", help: "also delete the branch entire/checkpoints/v1, if checkpoints are shared" },
    { flags: "--disable", help: "also turn off recording, as `backtrail disable` does" },
    { flags: "-f, --force", help: "even while agents are open here" },
    DRY_RUN,
    YES,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail purge --dry-run", "show what would be deleted"],
    ["backtrail purge --disable --yes", "delete everything, and stop recording"],
  ],
});

export const completionCommand = command("completion", "print a completion script for your shell", {
  arguments: [{ name: "<shell>", help: "bash, zsh, fish or powershell", completes: "shell" }],
  examples: [
    ["source <(backtrail completion bash)", "for this bash"],
    ["source <(backtrail completion zsh)", "for this zsh"],
    ["backtrail completion fish | source", "for this session of fish"],
  ],
});

const hooksCommand = command("hooks", "receive an event from an agent; reads the payload from stdin", {
  arguments: [
    { name: "<agent>", help: "the agent" },
    { name: "<verb>", help: "the event" },
  ],
  hidden: true,
});

export const MAINTENANCE_COMMANDS: readonly CommandSpec[] = [
  lazy(cleanCommand, () => import("./clean.ts")),
  lazy(forgetCommand, () => import("./forget.ts")),
  lazy(purgeCommand, () => import("./purge.ts")),
  lazy(completionCommand, () => import("./completion.ts")),
  lazy(hooksCommand, () => import("./hooks.ts")),
];
