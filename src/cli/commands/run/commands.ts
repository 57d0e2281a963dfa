/** Command table: running agents without a terminal. */
import { oneMore } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Run agents");

export const runCommand = command("run", "run an agent without a terminal, and log it", {
  details:
    "Sends a prompt to an agent, waits for the answer, and logs every line of output in .aiwr/logs. Prints three lines of JSON: the request, the session's id as soon as it is known, and the result. A run can be the child of another session, continue a session, or get the logs of earlier sessions as context.",
  arguments: [{ name: "[prompt]", help: "the prompt; `-` reads it from stdin" }],
  options: [
    { flags: "--agent <name>", help: "claude (default), gemini, codex, opencode, …", completes: "agent" },
    { flags: "--model <name>", help: "the agent's model (default: the agent's own)" },
    {
      flags: "--parent <id>",
      help: "make this run a child of this session",
      conflicts: ["session"],
      completes: "session",
    },
    {
      flags: "--session <id>",
      help: "continue this session, in the agent and in its log",
      conflicts: ["resume", "resumeTree"],
      completes: "run",
    },
    {
      flags: "--resume <id>",
      help: "start a new run with this session's log as context",
      conflicts: ["resumeTree"],
      completes: "run",
    },
    { flags: "--resume-tree <id>", help: "the same, with all sessions below it", completes: "run" },
    { flags: "--worktree", help: "run in a new git worktree beside the repository", conflicts: ["session"] },
    { flags: "--timeout <time>", help: "stop the run after this time: 90s, 10m, 1h30m" },
    { flags: "--budget <amount>", help: "stop the run above this many tokens (200k) or dollars ($0.50)" },
    {
      flags: "--tag <tag>",
      help: "a tag for `backtrail sessions --tag`; repeatable",
      parse: oneMore,
    },
    {
      flags: "--output <form>",
      help: "json (the three lines), text (only the result), stream (text as it comes)",
      choices: ["json", "text", "stream"],
    },
    {
      flags: "--prompts <file>",
      help: "start a run for each prompt in a file: one per line, or separated by lines of `---`; `-` reads stdin",
    },
    { flags: "--parallel <count>", help: "with --prompts: the number of runs at once (default: 1)" },
    { flags: "--list", help: "list all sessions as a tree, newest first" },
    { flags: "--verbose", help: "also print the agent's output on stderr", conflicts: ["quiet"] },
    { flags: "--quiet", help: "print only the result" },
  ],
  examples: [
    ['backtrail run "fix the login bug"', "with Claude Code"],
    ['backtrail run "fix the login bug" --agent gemini', "with another agent"],
    ['backtrail run "and write tests" --session a1b2c3d4', "continue a session"],
    ['backtrail run "fix it" -- --model opus', "arguments for the agent"],
    ['backtrail run "try it" --worktree --timeout 10m', "away from your files"],
    ["backtrail run --prompts todo.txt --parallel 3", "one run per line"],
    ["backtrail run --list", "list sessions"],
  ],
  takesRest: true,
});

export const RUN_COMMANDS: readonly CommandSpec[] = [lazy(runCommand, () => import("./run.ts"))];
