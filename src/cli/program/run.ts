/** Running agents without a terminal. A part of the table of commands. */
import type { CommandSpec } from "./spec.ts";

export const RUN: readonly CommandSpec[] = [
  {
    path: "run",
    group: "Run agents",
    summary: "run an agent without a terminal, and log it",
    details:
      "Asks an agent, waits for its answer, and logs every line that it prints below .aiwr/logs. Prints three lines of JSON: what was asked, the session's id as soon as it is known, and the result. A run may be the child of another session, continue one, or be given what earlier ones did. Also as `aiwr`, by itself.",
    arguments: [{ name: "[prompt]", help: "what to ask" }],
    options: [
      { flags: "--agent <name>", help: "claude (default), gemini, codex, opencode, …", completes: "agent" },
      { flags: "--model <name>", help: "the agent's model (default: the agent's own)" },
      { flags: "--parent <id>", help: "this run is a child of that session", conflicts: ["session"] },
      {
        flags: "--session <id>",
        help: "continue that session, in the agent and in its log",
        conflicts: ["resume", "resumeTree"],
      },
      {
        flags: "--resume <id>",
        help: "a new run that is given that session's log as context",
        conflicts: ["resumeTree"],
      },
      { flags: "--resume-tree <id>", help: "the same with all sessions below it" },
      { flags: "--list", help: "all sessions as a tree, newest first" },
      { flags: "--verbose", help: "also show what the agent prints, on stderr", conflicts: ["quiet"] },
      { flags: "--quiet", help: "only the result" },
    ],
    examples: [
      ['backtrail run "fix the login bug"', "with Claude Code"],
      ['backtrail run "fix the login bug" --agent gemini', "with another agent"],
      ['backtrail run "and write tests" --session a1b2c3d4', "continue a session"],
      ['backtrail run "fix it" -- --model opus', "arguments for the agent"],
      ["backtrail run --list", "what was run"],
    ],
    takesRest: true,
    load: () => import("../commands/run.ts"),
  },
];
