/** Command table: finding the turn that broke something, and checking turns. */
import { UserError } from "../../../base/errors.ts";
import { type CommandSpec, command, JSON_OPTION, lazy, type OptionSpec } from "../../program/spec.ts";

const BROUGHT = [
  {
    flags: "--link <path...>",
    help: "give the copy a link to this ignored path of yours, such as node_modules",
    completes: "path",
  },
  { flags: "--copy <path...>", help: "give it a copy of this ignored path, such as .env", completes: "path" },
  { flags: "--timeout <seconds>", help: "a run that takes longer fails", parse: seconds },
] as const satisfies readonly OptionSpec[];

export const bisectCommand = command({
  path: "bisect",
  group: "Look back",
  summary: "find the turn that broke a command",
  details:
    "Runs the command on recorded states, in a throwaway copy, until it is clear which turn of which agent made it fail. Your own files are not touched. Exit status 0 passes, 125 means that this state is inconclusive, anything else fails. Results are kept: the same files are never tried twice. The command is started as it stands, without a shell.",
  arguments: [{ name: "<command...>", help: "what to run, after --" }],
  options: [
    {
      flags: "--good <target>",
      help: "a state where it passes (default: the nearest one, searched)",
      completes: "step",
    },
    {
      flags: "--bad <target>",
      help: "a state where it fails (default: the files as they are now)",
      completes: "step",
    },
    ...BROUGHT,
    { flags: "--fresh", help: "run everything again, whatever is known" },
    { flags: "-p, --patch", help: "also show the change that broke it, as a diff" },
    { flags: "-v, --verbose", help: "show what the command prints" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail bisect -- npm test", "which turn broke the tests?"],
    ["backtrail bisect --link node_modules -- npm test", "with your packages"],
    ["backtrail bisect --good 12 -- ./check.sh -q", "among the last 12 turns"],
    ["backtrail bisect -- sh -c 'make && ./app < in'", "as a shell reads it"],
  ],
});

export const checkCommand = command({
  path: "check",
  group: "Look back",
  summary: "run your tests after every turn",
  details:
    "Runs a command of yours on the state that each turn left: in the background, while no agent works, in a throwaway copy, at the lowest priority. `backtrail log` then shows what passed (✓) and what failed (✗), and `backtrail rewind last-green` goes to the newest state that passed. Off until you set it up. Without a command, or as `check status`: what is set up and known.",
  arguments: [{ name: "[command...]", help: "what to run, after --" }],
  options: [
    { flags: "--now", help: "check what the last turn left and the current files, now; exit status 0 if both pass" },
    { flags: "--off", help: "stop checking", conflicts: ["now"] },
    ...BROUGHT,
    { flags: "-v, --verbose", help: "with --now: show what the command prints" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail check --link node_modules -- npm test", "set it up"],
    ["backtrail check --now", "check the last turn now"],
    ["backtrail check status", "what is known"],
    ["backtrail rewind last-green", "to what worked last"],
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
