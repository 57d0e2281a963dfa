/** Command table: the log of the user's own operations. */
import { CONFLICTS, DRY_RUN, JSON_OPTION, wholeNumber, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Go back");

const opsCommand = command("ops", "list what you did here, and undo it", {
  details:
    "Lists your operations in this work tree, newest first: each rewind, undo, redo and save, and each fork that you took or dropped. Under each restore is the step with the state before it. `backtrail ops undo` undoes any operation.",
  examples: [
    ["backtrail ops", "the last 20"],
    ["backtrail ops undo", "undo the newest"],
    ["backtrail ops undo pvmrktlwqxzs", "undo one, and keep later changes"],
  ],
});

export const opsLogCommand = command("ops log", "list your operations here, newest first", {
  options: [
    { flags: "-l, --limit <operations>", help: "show at most this many (default: 20; 0: all)", parse: wholeNumber },
    JSON_OPTION,
  ],
  isDefault: true,
});

export const opsUndoCommand = command("ops undo", "undo one operation and keep later changes", {
  details:
    "Undoes one operation. A rewind, undo, take or redo is reverted by a three-way merge, so later turns and edits stay; if the same lines have changed since, that is a conflict, and nothing is written. A dropped fork is created again. A saved step loses its name. `ops undo` is itself an operation that you can undo.",
  arguments: [
    {
      name: "[operation]",
      help: "the id of an operation or of the step before it (default: the newest)",
      completes: "operation",
    },
  ],
  options: [CONFLICTS, DRY_RUN, YES, JSON_OPTION],
});

export const OPERATION_COMMANDS: readonly CommandSpec[] = [
  opsCommand,
  lazy(opsLogCommand, () => import("./log.ts")),
  lazy(opsUndoCommand, () => import("./undo.ts")),
];
