/** Command table: finding the turn that broke something, and checking turns. */
import { UserError } from "../../../base/errors.ts";
import { JSON_OPTION } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy, type OptionSpec } from "../../program/spec.ts";

const command = commandsOf("Look back");

const BROUGHT = [
  {
    flags: "--link <path...>",
    help: "link an ignored path into the copy, such as node_modules",
    completes: "path",
  },
  { flags: "--copy <path...>", help: "copy an ignored path into the copy, such as .env", completes: "path" },
  { flags: "--timeout <seconds>", help: "fail a run that takes longer", parse: seconds },
] as const satisfies readonly OptionSpec[];

export const bisectCommand = command("bisect", "find the turn that broke a command", {
  details:
    "Runs the command on recorded states, in a throwaway copy, until it finds the turn that made it fail. Your own files are not touched. Exit status 0 passes, 125 is inconclusive, anything else fails. Results are kept, so a state is never tested twice. The command runs without a shell.",
  arguments: [{ name: "<command...>", help: "the command, after --" }],
  options: [
    {
      flags: "--good <target>",
      help: "a state where it passes (default: search for the nearest)",
      completes: "step",
    },
    {
      flags: "--bad <target>",
      help: "a state where it fails (default: the current files)",
      completes: "step",
    },
    ...BROUGHT,
    { flags: "--fresh", help: "ignore earlier results" },
    { flags: "-p, --patch", help: "show the diff of the change that broke it" },
    { flags: "-v, --verbose", help: "show what the command prints" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail bisect -- npm test", "which turn broke the tests?"],
    ["backtrail bisect --link node_modules -- npm test", "with your packages"],
    ["backtrail bisect --good 12 -- ./check.sh -q", "among the last 12 turns"],
    ["backtrail bisect -- sh -c 'make && ./app < in'", "through a shell"],
  ],
});

export const checkCommand = command("check", "run your tests after every turn", {
  details:
    "Runs your command on the state after each turn: in a throwaway copy, in the background, at the lowest priority, while no agent works. `backtrail log` shows ✓ or ✗ for each turn, and `backtrail rewind last-green` goes to the newest state that passed. Off until you set a command. Without a command, or with `check status`, shows the command and the results.",
  arguments: [{ name: "[command...]", help: "the command, after --" }],
  options: [
    { flags: "--now", help: "check the last turn and the current files now; exit with 0 if both pass" },
    { flags: "--off", help: "stop checking", conflicts: ["now"] },
    ...BROUGHT,
    { flags: "-v, --verbose", help: "with --now: show what the command prints" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail check --link node_modules -- npm test", "set it up"],
    ["backtrail check --now", "check the last turn now"],
    ["backtrail check status", "show results"],
    ["backtrail rewind last-green", "to the newest that passed"],
  ],
});

export const TRIAL_COMMANDS: readonly CommandSpec[] = [
  lazy(bisectCommand, () => import("./bisect.ts")),
  lazy(checkCommand, () => import("./check.ts")),
];

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of seconds.`, "Give a whole number, such as 300.");
}
