/** Command table: running agents without a terminal. */
import { type CommandSpec, command, lazy, oneMore } from "../../program/spec.ts";

export const runCommand = command({
  path: "run",
  group: "Run agents",
  summary: "run an agent without a terminal, and log it",
  details:
    "Asks an agent, waits for its answer, and logs every line that it prints below .aiwr/logs. Prints three lines of JSON: what was asked, the session's id as soon as it is known, and the result. A run may be the child of another session, continue one, or be given what earlier ones did.",
  arguments: [{ name: "[prompt]", help: "what to ask; `-`: what comes on standard input" }],
  options: [
    { flags: "--agent <name>", help: "claude (default), gemini, codex, opencode, …", completes: "agent" },
    { flags: "--model <name>", help: "the agent's model (default: the agent's own)" },
    {
      flags: "--parent <id>",
      help: "this run is a child of that session",
      conflicts: ["session"],
      completes: "session",
    },
    {
      flags: "--session <id>",
      help: "continue that session, in the agent and in its log",
      conflicts: ["resume", "resumeTree"],
      completes: "run",
    },
    {
      flags: "--resume <id>",
      help: "a new run that is given that session's log as context",
      conflicts: ["resumeTree"],
      completes: "run",
    },
    { flags: "--resume-tree <id>", help: "the same with all sessions below it", completes: "run" },
    { flags: "--worktree", help: "in a git worktree of its own, beside the repository", conflicts: ["session"] },
    { flags: "--timeout <time>", help: "stop it after that time: 90s, 10m, 1h30m" },
    { flags: "--budget <amount>", help: "stop it beyond that: tokens (200k), or dollars ($0.50)" },
    {
      flags: "--tag <tag>",
      help: "a word to find it by with `backtrail sessions --tag`; any number",
      parse: oneMore,
    },
    {
      flags: "--output <form>",
      help: "json (the three lines), text (only the result), stream (text as it comes)",
      choices: ["json", "text", "stream"],
    },
    {
      flags: "--prompts <file>",
      help: "a run for each prompt: one a line, or between lines of `---`; `-`: from standard input",
    },
    { flags: "--parallel <count>", help: "with --prompts: so many at once (default: 1)" },
    { flags: "--list", help: "all sessions as a tree, newest first" },
    { flags: "--verbose", help: "also show what the agent prints, on stderr", conflicts: ["quiet"] },
    { flags: "--quiet", help: "only the result" },
  ],
  examples: [
    ['backtrail run "fix the login bug"', "with Claude Code"],
    ['backtrail run "fix the login bug" --agent gemini', "with another agent"],
    ['backtrail run "and write tests" --session a1b2c3d4', "continue a session"],
    ['backtrail run "fix it" -- --model opus', "arguments for the agent"],
    ['backtrail run "try it" --worktree --timeout 10m', "beside your files"],
    ["backtrail run --prompts todo.txt --parallel 3", "one for each line"],
    ["backtrail run --list", "what was run"],
  ],
  takesRest: true,
});

export const RUN_COMMANDS: readonly CommandSpec[] = [lazy(runCommand, () => import("./run.ts"))];
