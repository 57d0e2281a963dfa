/** Command table: maintenance of the store and the installation, and commands that other programs call. */
import { type CommandSpec, command, DRY_RUN, JSON_OPTION, lazy, YES } from "../../program/spec.ts";

export const cleanCommand = command({
  path: "clean",
  group: "Set up",
  summary: "delete expired steps and finished run worktrees",
  details:
    "Deletes steps, imported sessions, stored transcripts, texts for other agents and commits of dropped forks that are older " +
    "than `retention.days`, of the oldest steps beyond `retention.max_size`, and of files that restores kept after 90 days (or " +
    "`retention.days`, if that is more), as the background does by itself once a day. Also removes worktrees of runs that are " +
    "done with: everything in them is committed, and on another branch. It first says what and how much. Named steps stay, and " +
    "so does every worktree with work in it.",
  options: [DRY_RUN, YES, JSON_OPTION],
});

export const forgetCommand = command({
  path: "forget",
  group: "Set up",
  summary: "remove a conversation from everything that was recorded",
  details:
    "Removes a session (by its id, or by something that was said in it) with its steps, its transcript, what is known of it, and the secrets that were redacted in it; or a single step. Checkpoints lose it by a new commit: earlier commits of their branch keep it until that history is rewritten, and the output says how. The agent's own transcript is not ours and stays.",
  arguments: [{ name: "<what>", help: "a session, a step, or a text that was said", completes: "session" }],
  options: [
    { flags: "--conversation-only", help: "keep the steps' code, without what was said" },
    DRY_RUN,
    YES,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail forget 5f0f2b1e", "a session"],
    ['backtrail forget "falcon" --dry-run', "every session that says it"],
    ["backtrail forget 5f0f2b1e --conversation-only", "the words, not the code"],
  ],
});

export const purgeCommand = command({
  path: "purge",
  group: "Set up",
  summary: "remove everything that was recorded here",
  details:
    "Removes every step, conversation and checkpoint that Backtrail has recorded in this repository or folder, with the refs, files and objects that hold them. Your files, branches and commits stay, and so do the agents' own transcripts and the logs of runs in .aiwr. Commits keep their `Entire-Checkpoint` line, which then leads nowhere. Recording goes on, unless you give --disable. It first shows what would go. This cannot be taken back.",
  options: [
    { flags: "--checkpoints", help: "also the branch entire/checkpoints/v1, if checkpoints are shared" },
    { flags: "--disable", help: "also turn recording off, as `backtrail disable` does, and leave nothing behind" },
    { flags: "-f, --force", help: "also while agents are open here" },
    DRY_RUN,
    YES,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail purge --dry-run", "what would go, and how much"],
    ["backtrail purge --disable --yes", "as if it had never been here"],
  ],
});

export const completionCommand = command({
  path: "completion",
  group: "Set up",
  summary: "a script that completes commands in your shell",
  arguments: [{ name: "<shell>", help: "bash, zsh, fish or powershell", completes: "shell" }],
  examples: [
    ["source <(backtrail completion bash)", "for this bash"],
    ["source <(backtrail completion zsh)", "for this zsh"],
    ["backtrail completion fish | source", "for this fish"],
  ],
});

const hooksCommand = command({
  path: "hooks",
  group: "Set up",
  summary: "what agents call; it reads its payload from standard input",
  arguments: [
    { name: "<agent>", help: "the agent that calls" },
    { name: "<verb>", help: "what has happened" },
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
