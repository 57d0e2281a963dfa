/** Command table: viewing recorded steps and sessions. */
import { UserError } from "../../../base/errors.ts";
import { STEP_KINDS } from "../../../model/step.ts";
import { JSON_OPTION, oneMore, TARGET, wholeNumber } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Look back");

const NOT_OF_COMMITS = ["steps", "session", "agent", "file", "grep", "since", "before", "patch", "kind"];

export const logCommand = command("log", "show the timeline: every turn, newest first", {
  details:
    'Lists every turn, newest first. Filters can be combined: a turn is listed if it meets all of them. Paths are relative to the current directory, and patterns are those of git. --grep ignores case and looks through prompts and the beginning of the last answer. Times are like git\'s: "2 hours ago", yesterday, monday, 2026-11-17, "2026-11-17 14:30", or short: 3h, 2d.',
  arguments: [{ name: "[path...]", help: "only turns that changed one of these files", completes: "path" }],
  options: [
    { flags: "-l, --limit <turns>", help: "show at most this many turns (default: 20; 0: all)", parse: wholeNumber },
    {
      flags: "-s, --session <id>",
      help: "only this session, given by its id or the beginning of it",
      completes: "session",
    },
    { flags: "-a, --agent <id>", help: "only turns of this agent; repeatable", parse: oneMore, completes: "agent" },
    { flags: "-f, --file <path>", help: "the same as [path...]; repeatable", parse: oneMore, completes: "path" },
    { flags: "-g, --grep <text>", help: "only turns with this text in a prompt or an answer" },
    { flags: "--since <time>", help: "only turns that ended at this time or later" },
    { flags: "--before <time>", help: "only turns that began before this time" },
    { flags: "-p, --patch", help: "show the diff of each turn" },
    { flags: "--all", help: "also show the repository's other worktrees, and safety steps" },
    { flags: "--kind <kind...>", help: "only steps of these kinds", choices: STEP_KINDS },
    { flags: "--steps", help: "show every step of each turn" },
    { flags: "--commits", help: "group by commit, with the prompts behind each", conflicts: NOT_OF_COMMITS },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail log", "the last turns"],
    ["backtrail log --limit 0 --steps", "everything"],
    ["backtrail log -p -- src/cart.ts", "each turn's diff of a file"],
    ["backtrail log --agent codex --since 3h", "by agent and time"],
    ["backtrail log --json", "for scripts"],
  ],
});

export const showCommand = command("show", "show a step's prompt, files, tokens and answer", {
  arguments: [{ name: "[target]", help: `${TARGET} (default: last)`, completes: "step" }],
  options: [{ flags: "-p, --patch", help: "show the diff" }, JSON_OPTION],
  examples: [
    ["backtrail show", "the last turn"],
    ["backtrail show 2 --patch", "the turn before the last, with its diff"],
  ],
});

export const diffCommand = command("diff", "show changes between two steps, or since a step", {
  details:
    "Shows the changes between two steps. With one target, shows the changes from that step to the current files. Without a target, shows the changes of the last turn and everything since.",
  arguments: [
    { name: "[from]", help: `${TARGET} (default: prev)`, completes: "step" },
    { name: "[to]", help: "the same (default: the current files)", completes: "step" },
  ],
  options: [
    { flags: "--paths <glob...>", help: "only these files, relative to the current directory", completes: "path" },
    { flags: "--stat", help: "only names and kinds of changes" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail diff last", "what you changed since the agent was done"],
    ["backtrail diff prev last", "what the last turn changed"],
    ["backtrail diff 3 --paths 'src/**'", "below src, in the last three turns"],
  ],
});

export const viewCommand = command("view", "open the record in your browser", {
  details:
    "Shows the timeline, diffs and any file at any turn in your browser. The server runs on this machine, and only this browser can use it. Nothing leaves the machine. The server stops a minute after you close the last tab.",
  options: [
    { flags: "--no-open", help: "print the address instead of opening it" },
    { flags: "--port <number>", help: "the port (default: any free one)", parse: portNumber },
    { flags: "--read-only", help: "show everything, change nothing" },
    { flags: "--idle <seconds>", help: "stop this long after the last tab (default: 60; 0: never)", parse: seconds },
    { flags: "--json", help: "print the address and the process id as JSON, in one line" },
  ],
  examples: [
    ["backtrail view", "open it"],
    ["backtrail view --read-only", "change nothing"],
    ["backtrail view --no-open --port 4100", "for a tunnel: ssh -L 4100:127.0.0.1:4100"],
  ],
});

export const STEP_COMMANDS: readonly CommandSpec[] = [
  lazy(logCommand, () => import("./log.ts")),
  lazy(showCommand, () => import("./show.ts")),
  lazy(diffCommand, () => import("./diff.ts")),
  lazy(viewCommand, () => import("./view.ts")),
];

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UserError("usage", `"${text}" is not a port.`, "Give a number from 1024 to 65535; 0 means any free one.");
}

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of seconds.`, "Give a whole number; 0 means never.");
}
