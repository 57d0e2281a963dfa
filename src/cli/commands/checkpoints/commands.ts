/** Command table: commits, who wrote them, and why. */
import { DRY_RUN, JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Look back");

const TARGET = "a commit, a checkpoint, or the beginning of a session's id (default: HEAD)";

export const explainCommand = command("explain", "show the sessions behind a commit: prompts, files, tokens", {
  details:
    "Shows the sessions behind a commit, a checkpoint or a session id: their prompts, files and tokens, and with --conversation everything that was said. Also reads checkpoints that other tools wrote to the branch entire/checkpoints/v1.",
  arguments: [{ name: "[target]", help: TARGET, completes: "session" }],
  options: [
    { flags: "-c, --conversation", help: "show the whole conversation" },
    { flags: "--summarize", help: "have an agent summarize sessions without a summary, and store it" },
    { flags: "--summarise", help: "the same" },
    {
      flags: "--agent <name>",
      help: "with --summarize: which agent (default: `summarise.agent`)",
      completes: "agent",
    },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail explain", "the last commit"],
    ["backtrail explain --summarize --agent claude", "by Claude Code"],
    ["backtrail explain main~3 --conversation", "with the whole conversation"],
  ],
});

export const whyCommand = command("why", "show the commit, turn and prompt behind a line", {
  details:
    "Shows the commit, session, turn and prompt behind a line, and what the agent said when it wrote the line. For a whole file, shows the turns that wrote it and the lines of each. The answer comes from recorded snapshots, and covers uncommitted lines.",
  arguments: [{ name: "<place>", help: "<file>, <file>:<line> or <file>:<line>-<line>", completes: "path" }],
  options: [JSON_OPTION],
  examples: [
    ["backtrail why src/parser.ts:42", "one line"],
    ["backtrail why src/parser.ts", "the turns behind a file"],
  ],
});

export const blameCommand = command("blame", "show the turn that wrote each line of a file", {
  arguments: [{ name: "<place>", help: "<file>, or <file>:<line>-<line>", completes: "path" }],
  options: [JSON_OPTION],
  examples: [["backtrail blame src/parser.ts:1-40", "the first forty lines"]],
});

export const importCommand = command("import", "import sessions from before Backtrail", {
  details:
    "Reads an agent's transcripts of conversations in this folder, and stores their prompts, files and tokens for `explain`. Imported sessions have no snapshots, so you can't rewind to them. Run it again to import newer sessions.",
  arguments: [{ name: "<agent>", help: "the agent", completes: "agent" }],
  options: [DRY_RUN, JSON_OPTION],
  examples: [["backtrail import claude-code", "your conversations in this folder"]],
});

export const CHECKPOINT_COMMANDS: readonly CommandSpec[] = [
  lazy(explainCommand, () => import("./explain.ts")),
  lazy(whyCommand, () => import("./why.ts")),
  lazy(blameCommand, () => import("./blame.ts")),
  lazy(importCommand, () => import("./import.ts")),
];
