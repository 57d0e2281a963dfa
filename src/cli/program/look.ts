/** Looking at what was recorded. A part of the table of commands. */
import { type CommandSpec, JSON_OPTION, TARGET, wholeNumber } from "./spec.ts";

export const LOOK: readonly CommandSpec[] = [
  {
    path: "log",
    group: "Look back",
    summary: "the timeline: every turn, newest first",
    arguments: [],
    options: [
      { flags: "-l, --limit <turns>", help: "at most that many turns (default: 20; 0: all)", parse: wholeNumber },
      {
        flags: "-s, --session <id>",
        help: "only this session; the beginning of its id is enough",
        completes: "session",
      },
      { flags: "--all", help: "also the other worktrees of this repository" },
      { flags: "--steps", help: "every step of each turn" },
      { flags: "--commits", help: "by commit, with the prompts behind each", conflicts: ["steps", "session"] },
      JSON_OPTION,
    ],
    examples: [
      ["backtrail log", "the last turns"],
      ["backtrail log --limit 0 --steps", "everything"],
      ["backtrail log --json", "for scripts"],
    ],
    load: () => import("../commands/log.ts"),
  },
  {
    path: "show",
    group: "Look back",
    summary: "one step: its prompt, files, tokens and the answer",
    arguments: [{ name: "[target]", help: `${TARGET} (default: last)`, completes: "step" }],
    options: [{ flags: "-p, --patch", help: "also what changed, as a diff" }, JSON_OPTION],
    examples: [
      ["backtrail show", "the last turn"],
      ["backtrail show 2 --patch", "the turn before the last, with its diff"],
    ],
    load: () => import("../commands/show.ts"),
  },
  {
    path: "diff",
    group: "Look back",
    summary: "what changed between two steps, or a step and now",
    details:
      "The difference between two steps. With one target: between that step and the files as they are now. Without any: what the last turn and whatever came after it changed.",
    arguments: [
      { name: "[from]", help: `${TARGET} (default: prev)`, completes: "step" },
      { name: "[to]", help: "likewise (default: the files as they are now)", completes: "step" },
    ],
    options: [
      { flags: "--paths <glob...>", help: "only these files" },
      { flags: "--stat", help: "only the names and what happened to them" },
      JSON_OPTION,
    ],
    examples: [
      ["backtrail diff last", "what you changed since the agent was done"],
      ["backtrail diff prev last", "what the last turn changed"],
      ["backtrail diff 3 --paths 'src/**'", "below src, since three turns ago"],
    ],
    load: () => import("../commands/diff.ts"),
  },
];
