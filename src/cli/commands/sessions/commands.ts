/** Command table: sessions, in runs and recorded. */
import { type ArgumentSpec, type CommandSpec, command, JSON_OPTION, lazy, wholeNumber } from "../../program/spec.ts";

const SESSION = {
  name: "<session>",
  help: "a session's id (the beginning is enough), or last",
  completes: "session",
} as const satisfies ArgumentSpec;

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

export const SESSION_COMMANDS: readonly CommandSpec[] = [
  sessionsCommand,
  lazy(sessionsListCommand, () => import("./list.ts")),
  lazy(sessionsShowCommand, () => import("./show.ts")),
  lazy(sessionsDiffCommand, () => import("./diff.ts")),
  lazy(exportCommand, () => import("./export.ts")),
];
