/** Command table: running agents without a terminal. */
import {
  type ArgumentSpec,
  type CommandSpec,
  command,
  JSON_OPTION,
  lazy,
  oneMore,
  wholeNumber,
} from "../../program/spec.ts";

const SESSION = {
  name: "<session>",
  help: "a session's id (the beginning is enough), or last",
  completes: "session",
} as const satisfies ArgumentSpec;

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

const sessionsCommand = command({
  path: "sessions",
  group: "Look back",
  summary: "all sessions as a tree: runs, recorded ones, subagents",
  details:
    "Everything that agents did here as one tree: runs (`backtrail run`), sessions that were recorded, their subagents, and the sessions that they started. A run in a repository where Backtrail records is one session: its log and its steps belong together.",
  examples: [
    ["backtrail sessions", "the newest ones"],
    ["backtrail sessions --status failed --since 2d", "what failed lately"],
    ["backtrail sessions --search 'login bug'", "by what was asked or answered"],
    ["backtrail sessions show a1b2c3d4", "one of them whole"],
    ["backtrail sessions diff a1b2c3d4 e5f6a7b8", "two attempts side by side"],
  ],
});

export const sessionsListCommand = command({
  path: "sessions list",
  group: "Look back",
  summary: "the tree, newest first (default)",
  options: [
    { flags: "-a, --agent <name...>", help: "only of these agents", completes: "agent" },
    {
      flags: "--status <status...>",
      help: "running, waiting, completed, failed, interrupted, timed-out, over-budget",
    },
    { flags: "--tag <tag...>", help: "only with all of these tags" },
    { flags: "--since <time>", help: "only with something since then: 2d, 3h, yesterday, 2026-11-17" },
    { flags: "--until <time>", help: "only that began before then" },
    { flags: "--search <text>", help: "only with this in a prompt or a result" },
    { flags: "-l, --limit <sessions>", help: "at most that many (default: 20; 0: all)", parse: wholeNumber },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const sessionsShowCommand = command({
  path: "sessions show",
  group: "Look back",
  summary: "one session: its prompts, results and what it started",
  arguments: [SESSION],
  options: [JSON_OPTION],
});

export const sessionsDiffCommand = command({
  path: "sessions diff",
  group: "Look back",
  summary: "two sessions side by side",
  details:
    "Two sessions side by side: prompts and results, tokens, cost and time, and the files that each of them changed.",
  arguments: [
    { ...SESSION, name: "<one>" },
    { ...SESSION, name: "<other>", help: "likewise" },
  ],
  options: [JSON_OPTION],
});

export const exportCommand = command({
  path: "export",
  group: "Look back",
  summary: "a session as one file: Markdown, HTML or JSON",
  details:
    "A session with its whole conversation as one file that can be read without Backtrail. Secrets are taken out as they are for checkpoints, unless you ask for --raw. The HTML is the page of `backtrail view` with the session and its changes inside: one file that works without a server.",
  arguments: [SESSION],
  options: [
    { flags: "-f, --format <format>", help: "md (default), html or json", choices: ["md", "html", "json"] },
    { flags: "-o, --output <file>", help: "into that file (default: stdout)", completes: "path" },
    { flags: "--tree", help: "also the sessions that it started" },
    { flags: "--raw", help: "as it is, with any secrets in it" },
    { flags: "-y, --yes", help: "overwrite a file that exists" },
  ],
  examples: [
    ["backtrail export a1b2c3d4 -o session.html", "to show to somebody"],
    ["backtrail export a1b2c3d4 --tree --format json", "with all below it"],
  ],
});

export const RUN_COMMANDS: readonly CommandSpec[] = [
  lazy(runCommand, () => import("./run.ts")),
  sessionsCommand,
  lazy(sessionsListCommand, () => import("../sessions/list.ts")),
  lazy(sessionsShowCommand, () => import("../sessions/show.ts")),
  lazy(sessionsDiffCommand, () => import("../sessions/diff.ts")),
  lazy(exportCommand, () => import("../sessions/export.ts")),
];
