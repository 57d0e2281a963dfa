/** Command table: the log of the user's own operations. */
import { type CommandSpec, command, DRY_RUN, JSON_OPTION, lazy, wholeNumber, YES } from "../../program/spec.ts";

const opsCommand = command({
  path: "ops",
  group: "Go back",
  summary: "what you did here, and taking it back",
  details:
    "Every operation of yours in this work tree, newest first: what you rewound, undid and took back, which forks you took and dropped, and what you saved. Below each restore is the step that holds the state before it. Any operation can be taken back with `backtrail ops undo`.",
  examples: [
    ["backtrail ops", "the last ones"],
    ["backtrail ops undo", "take the newest back"],
    ["backtrail ops undo pvmrktlwqxzs", "take one back, and keep what came since"],
  ],
});

export const opsLogCommand = command({
  path: "ops log",
  group: "Go back",
  summary: "what you rewound, undid, took, dropped and saved here",
  options: [
    { flags: "-l, --limit <operations>", help: "at most that many (default: 20; 0: all)", parse: wholeNumber },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const opsUndoCommand = command({
  path: "ops undo",
  group: "Go back",
  summary: "take one operation back and keep what came since",
  details:
    "Takes back what one operation did. A rewind, undo, take or redo goes back by a three-way merge, so that turns and edits since stay; where the same lines were changed since, that is a conflict and nothing is written. A dropped fork is made again in its place. A saved step loses its name. Taking an operation back is an operation, too.",
  arguments: [
    {
      name: "[operation]",
      help: "the beginning of its id, or of the step before it (default: the newest)",
      completes: "operation",
    },
  ],
  options: [
    {
      flags: "--conflicts <how>",
      help: "`markers` writes what conflicts into the files",
      choices: ["refuse", "markers"],
    },
    DRY_RUN,
    YES,
    JSON_OPTION,
  ],
});

export const OPERATION_COMMANDS: readonly CommandSpec[] = [
  opsCommand,
  lazy(opsLogCommand, () => import("./log.ts")),
  lazy(opsUndoCommand, () => import("./undo.ts")),
];
