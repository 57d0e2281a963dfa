/** Keeping the store and the installation in order, and what is called by other programs. A part of the table of commands. */
import { type CommandSpec, DRY_RUN, JSON_OPTION, YES } from "./spec.ts";

export const UPKEEP: readonly CommandSpec[] = [
  {
    path: "clean",
    group: "Set up",
    summary: "let go of what is past its time",
    details:
      "Lets go of steps, imported sessions, stored transcripts, texts for other agents and commits of dropped forks that are older " +
      "than `retention.days`, of the oldest steps beyond `retention.max_size`, and of files that restores kept after 90 days (or " +
      "`retention.days`, if that is more), as the background does by itself once a day. Also removes worktrees of runs that are " +
      "done with: everything in them is committed, and on another branch. It first says what and how much. Named steps stay, and " +
      "so does every worktree with work in it.",
    options: [DRY_RUN, YES, JSON_OPTION],
    load: () => import("../commands/clean.ts"),
  },
  {
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
    load: () => import("../commands/forget.ts"),
  },
  {
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
  },
  {
    path: "redact scan",
    group: "Set up",
    summary: "where secrets are in these files",
    arguments: [{ name: "<files...>", help: "texts, transcripts, anything" }],
    options: [{ flags: "--check", help: "end with 1 if there is one" }, JSON_OPTION],
    isDefault: true,
    load: () => import("../commands/redact/scan.ts"),
  },
  {
    path: "redact test",
    group: "Set up",
    summary: "what a file looks like without its secrets",
    arguments: [{ name: "<file>", help: "a text or a transcript" }],
    options: [{ flags: "-w, --whole", help: "all of it, not only the places" }, JSON_OPTION],
    load: () => import("../commands/redact/test.ts"),
  },
  {
    path: "doctor",
    group: "Set up",
    summary: "find out what is wrong, and put it right",
    details:
      "Looks at the store, the hooks, the settings and the log of failures, and says in words what is wrong and what to do. Without --fix it changes nothing.",
    examples: [
      ["backtrail doctor", "what is wrong, and what to do"],
      ["backtrail doctor --fix", "put right what can be put right safely"],
      ["backtrail doctor --check", "only what must hold; for scripts"],
      ["backtrail doctor bundle", "a file for a report, without anything private"],
    ],
  },
  {
    path: "doctor examine",
    group: "Set up",
    summary: "what is wrong and what to do about it (default)",
    options: [
      { flags: "--check", help: "only what must hold; end with 1 unless it does", conflicts: ["fix"] },
      { flags: "--fix", help: "put right what can be put right safely" },
      JSON_OPTION,
    ],
    isDefault: true,
    load: () => import("../commands/doctor/examine.ts"),
  },
  {
    path: "doctor bundle",
    group: "Set up",
    summary: "a file to attach to a report, without anything private",
    details:
      "Writes one JSON file with what helps to find a fault: versions, what `doctor` finds, the log of failures, counts and sizes. No prompt, answer, code or name of a file of yours is in it; secrets are redacted, your home directory is `~`. Read it before you send it.",
    arguments: [{ name: "[file]", help: "where to (default: in the temporary directory)" }],
    options: [JSON_OPTION],
    load: () => import("../commands/doctor/bundle.ts"),
  },
  {
    path: "completion",
    group: "Set up",
    summary: "a script that completes commands in your shell",
    arguments: [{ name: "<shell>", help: "bash, zsh, fish or powershell", completes: "shell" }],
    examples: [
      ["source <(backtrail completion bash)", "for this bash"],
      ["source <(backtrail completion zsh)", "for this zsh"],
      ["backtrail completion fish | source", "for this fish"],
    ],
    load: () => import("../commands/completion.ts"),
  },
  {
    path: "hooks",
    group: "Set up",
    summary: "what agents call; it reads its payload from standard input",
    arguments: [
      { name: "<agent>", help: "the agent that calls" },
      { name: "<verb>", help: "what has happened" },
    ],
    hidden: true,
    load: () => import("../commands/hooks.ts"),
  },
];
