/** Finding what broke, and knowing what works. A part of the table of commands. */
import { UserError } from "../../base/errors.ts";
import { type CommandSpec, JSON_OPTION, type OptionSpec } from "./spec.ts";

const BROUGHT: readonly OptionSpec[] = [
  { flags: "--link <path...>", help: "give the copy a link to this ignored path of yours, such as node_modules" },
  { flags: "--copy <path...>", help: "give it a copy of this ignored path, such as .env" },
  { flags: "--timeout <seconds>", help: "a run that takes longer fails", parse: seconds },
];

export const FIND: readonly CommandSpec[] = [
  {
    path: "bisect",
    group: "Look back",
    summary: "find the turn that broke a command",
    details:
      "Runs the command on recorded states, in a throwaway copy, until it is clear which turn of which agent made it fail. Your own files are not touched. Exit status 0 passes, 125 means that this state can't be told, anything else fails. Results are kept: the same files are never tried twice. The command is started as it stands, without a shell.",
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
    load: () => import("../commands/bisect.ts"),
  },
  {
    path: "check",
    group: "Look back",
    summary: "know which turns left something that works",
    details:
      "Runs a command of yours on the state that each turn left: in the background, while no agent works, in a throwaway copy, at the lowest priority. `backtrail log` then shows what passed (✓) and what failed (✗), and `backtrail rewind last-green` goes to the newest state that passed. Off until you set it up. Without a command, or as `check status`: what is set up and known.",
    arguments: [{ name: "[command...]", help: "what to run, after --" }],
    options: [
      { flags: "--now", help: "check what the last turn left, now; exit status 0 if it passes" },
      { flags: "--off", help: "check nothing any more", conflicts: ["now"] },
      ...BROUGHT,
      { flags: "-v, --verbose", help: "with --now: show what the command prints" },
      JSON_OPTION,
    ],
    examples: [
      ["backtrail check --link node_modules -- npm test", "set it up"],
      ["backtrail check --now", "check the last turn"],
      ["backtrail check status", "what is known"],
      ["backtrail rewind last-green", "to what worked last"],
    ],
    load: () => import("../commands/check.ts"),
  },
];

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of seconds.`, "Give a whole number, such as 300.");
}
