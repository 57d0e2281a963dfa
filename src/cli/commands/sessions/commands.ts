/** Command table: sessions, in runs and recorded. */
import { JSON_OPTION, wholeNumber } from "../../program/options.ts";
import { type ArgumentSpec, type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Look back");

const SESSION = {
  name: "<session>",
  help: "a session's id or the beginning of it, or `last`",
  completes: "session",
} as const satisfies ArgumentSpec;

const sessionsCommand = command("sessions", "list sessions as a tree, with runs and subagents", {
  details:
    "Lists everything that agents did here as one tree: runs (`backtrail run`), recorded sessions, their subagents, and the sessions that they started. A recorded run is one session, with a log and steps.",
  examples: [
    ["backtrail sessions", "the newest"],
    ["backtrail sessions --status failed --since 2d", "recent failures"],
    ["backtrail sessions --search 'login bug'", "by text in prompts or results"],
    ["backtrail sessions show a1b2c3d4", "one session with all details"],
    ["backtrail sessions diff a1b2c3d4 e5f6a7b8", "compare two attempts"],
  ],
});

export const sessionsListCommand = command("sessions list", "list the tree, newest first (default)", {
  options: [
    { flags: "-a, --agent <name...>", help: "only sessions of these agents", completes: "agent" },
    {
      flags: "--status <status...>",
      help: "running, waiting, completed, failed, interrupted, timed-out, over-budget",
    },
    { flags: "--tag <tag...>", help: "only sessions with all of these tags" },
    { flags: "--since <time>", help: "only sessions with activity since then: 2d, 3h, yesterday, 2026-11-17" },
    { flags: "--until <time>", help: "only sessions that began before then" },
    { flags: "--search <text>", help: "only sessions with this text in a prompt or result" },
    { flags: "-l, --limit <sessions>", help: "show at most this many (default: 20; 0: all)", parse: wholeNumber },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const sessionsShowCommand = command("sessions show", "show one session: its prompts, results and children", {
  arguments: [SESSION],
  options: [JSON_OPTION],
});

export const sessionsDiffCommand = command("sessions diff", "compare two sessions", {
  details: "Compares two sessions: prompts and results, tokens, cost and time, and the files that each changed.",
  arguments: [
    { ...SESSION, name: "<one>" },
    { ...SESSION, name: "<other>", help: "the same" },
  ],
  options: [JSON_OPTION],
});

export const exportCommand = command("export", "export a session as Markdown, HTML or JSON", {
  details:
    "Writes a session and its whole conversation to one file. Secrets are removed as for checkpoints, unless you give --raw. The HTML file is the page of `backtrail view` with the session and its changes; it needs no server.",
  arguments: [SESSION],
  options: [
    { flags: "-f, --format <format>", help: "md (default), html or json", choices: ["md", "html", "json"] },
    { flags: "-o, --output <file>", help: "write to this file (default: stdout)", completes: "path" },
    { flags: "--tree", help: "include the sessions that it started" },
    { flags: "--raw", help: "keep secrets" },
    { flags: "-y, --yes", help: "overwrite an existing file" },
  ],
  examples: [
    ["backtrail export a1b2c3d4 -o session.html", "to share"],
    ["backtrail export a1b2c3d4 --tree --format json", "with all sessions below it"],
  ],
});

export const SESSION_COMMANDS: readonly CommandSpec[] = [
  sessionsCommand,
  lazy(sessionsListCommand, () => import("./list.ts")),
  lazy(sessionsShowCommand, () => import("./show.ts")),
  lazy(sessionsDiffCommand, () => import("./diff.ts")),
  lazy(exportCommand, () => import("./export.ts")),
];
