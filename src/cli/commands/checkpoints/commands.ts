/** Command table: commits, who wrote them, and why. */
import { type CommandSpec, command, DRY_RUN, JSON_OPTION, lazy } from "../../program/spec.ts";

export const explainCommand = command({
  path: "explain",
  group: "Look back",
  summary: "the sessions behind a commit: prompts, files, tokens",
  details:
    "What led to a commit: the sessions behind it, with their prompts, files and tokens, and the conversation if you ask for it. Also for one checkpoint or one session. Checkpoints that another tool wrote on the branch entire/checkpoints/v1 are read as well.",
  arguments: [
    {
      name: "[target]",
      help: "a commit, a checkpoint, or the beginning of a session's id (default: HEAD)",
      completes: "session",
    },
  ],
  options: [
    { flags: "-c, --conversation", help: "also the whole conversation" },
    { flags: "--summarise", help: "let an agent summarise the sessions that have no summary, and keep it" },
    {
      flags: "--agent <name>",
      help: "with --summarise: which agent (default: `summarise.agent`)",
      completes: "agent",
    },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail explain", "the last commit"],
    ["backtrail explain --summarise --agent claude", "by Claude Code"],
    ["backtrail explain main~3 --conversation", "with all that was said"],
  ],
});

export const whyCommand = command({
  path: "why",
  group: "Look back",
  summary: "why a line is there: its commit, turn and prompt",
  details:
    "The commit, session, turn and prompt behind a line, and what the agent said as it wrote it. For a whole file: the turns that wrote it, and which lines each. It is told from the recorded snapshots, not guessed, and also for lines that are not committed yet.",
  arguments: [{ name: "<place>", help: "<file>, <file>:<line> or <file>:<line>-<line>", completes: "path" }],
  options: [JSON_OPTION],
  examples: [
    ["backtrail why src/parser.ts:42", "one line"],
    ["backtrail why src/parser.ts", "the turns behind a file"],
  ],
});

export const blameCommand = command({
  path: "blame",
  group: "Look back",
  summary: "every line of a file with the turn that wrote it",
  arguments: [{ name: "<place>", help: "<file>, or <file>:<line>-<line>", completes: "path" }],
  options: [JSON_OPTION],
  examples: [["backtrail blame src/parser.ts:1-40", "the first forty lines"]],
});

export const importCommand = command({
  path: "import",
  group: "Look back",
  summary: "bring in sessions from before Backtrail",
  details:
    "Reads an agent's own transcripts of conversations in this folder, and keeps their prompts, files and tokens for `explain`. They have no snapshots: there is nothing in them to go back to. Run again, it brings in what is new.",
  arguments: [{ name: "<agent>", help: "whose sessions", completes: "agent" }],
  options: [DRY_RUN, JSON_OPTION],
  examples: [["backtrail import claude-code", "the conversations you have had here"]],
});

export const CHECKPOINT_COMMANDS: readonly CommandSpec[] = [
  lazy(explainCommand, () => import("./explain.ts")),
  lazy(whyCommand, () => import("./why.ts")),
  lazy(blameCommand, () => import("./blame.ts")),
  lazy(importCommand, () => import("./import.ts")),
];
