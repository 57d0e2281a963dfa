/** Command table: maintenance of the store and the installation, and commands that other programs call. */
import { type CommandSpec, command, DRY_RUN, JSON_OPTION, lazy, YES } from "../../program/spec.ts";

export const cleanCommand = command({
  path: "clean",
  group: "Set up",
  summary: "delete expired steps and finished run worktrees",
  details:
    "Lets go of steps, imported sessions, stored transcripts, texts for other agents and commits of dropped forks that are older " +
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

const redactCommand = command({
  path: "redact",
  group: "Set up",
  summary: "find secrets in files, as they are kept out of checkpoints",
  details:
    "Secrets are taken out of conversations before they go into a checkpoint or leave this machine. These commands show what would be taken out of a file, and never a secret itself. `redaction.rules` and `redaction.allow` are your own additions and exceptions.",
  examples: [
    ["backtrail redact scan notes.md app.log", "where secrets are"],
    ["backtrail redact test session.jsonl", "what it is without them"],
    ["backtrail config set redaction.rules 'A-[0-9]{6}'", "a pattern of yours"],
  ],
});

export const redactScanCommand = command({
  path: "redact scan",
  group: "Set up",
  summary: "where secrets are in these files",
  arguments: [{ name: "<files...>", help: "texts, transcripts, anything", completes: "path" }],
  options: [{ flags: "--check", help: "end with 1 if there is one" }, JSON_OPTION],
  isDefault: true,
});

export const redactTestCommand = command({
  path: "redact test",
  group: "Set up",
  summary: "what a file looks like without its secrets",
  arguments: [{ name: "<file>", help: "a text or a transcript", completes: "path" }],
  options: [{ flags: "-w, --whole", help: "all of it, not only the places" }, JSON_OPTION],
});

const doctorCommand = command({
  path: "doctor",
  group: "Set up",
  summary: "diagnose and fix problems",
  details:
    "Looks at the store, the hooks, the settings and the log of failures, and says in words what is wrong and what to do. Without --fix it changes nothing.",
  examples: [
    ["backtrail doctor", "what is wrong, and what to do"],
    ["backtrail doctor --fix", "fix what can be fixed safely"],
    ["backtrail doctor --check", "only what must hold; for scripts"],
    ["backtrail doctor bundle", "a file for a report, without anything private"],
  ],
});

export const doctorExamineCommand = command({
  path: "doctor examine",
  group: "Set up",
  summary: "what is wrong and what to do about it (default)",
  options: [
    { flags: "--check", help: "only what must hold; end with 1 unless it does", conflicts: ["fix"] },
    { flags: "--fix", help: "fix what can be fixed safely" },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const doctorBundleCommand = command({
  path: "doctor bundle",
  group: "Set up",
  summary: "a file to attach to a report, without anything private",
  details:
    "Writes one JSON file with what helps to find a fault: versions, what `doctor` finds, the log of failures, counts and sizes. No prompt, answer, code or name of a file of yours is in it; secrets are redacted, your home directory is `~`. Read it before you send it.",
  arguments: [{ name: "[file]", help: "where to (default: in the temporary directory)", completes: "path" }],
  options: [{ flags: "-y, --yes", help: "overwrite a file that exists" }, JSON_OPTION],
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
  redactCommand,
  lazy(redactScanCommand, () => import("../redact/scan.ts")),
  lazy(redactTestCommand, () => import("../redact/test.ts")),
  doctorCommand,
  lazy(doctorExamineCommand, () => import("../doctor/examine.ts")),
  lazy(doctorBundleCommand, () => import("../doctor/bundle.ts")),
  lazy(completionCommand, () => import("./completion.ts")),
  lazy(hooksCommand, () => import("./hooks.ts")),
];
