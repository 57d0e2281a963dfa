/** Command table: rewind, undo and redo. */
import { CONFIRMATION, CONFLICTS, JSON_OPTION, TARGET } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy, type OptionSpec } from "../../program/spec.ts";

const command = commandsOf("Go back");

const TELL_AGENT = {
  flags: "--tell-agent",
  help: "tell the agent what was undone when it continues",
} as const satisfies OptionSpec;
const REASON = {
  flags: "--reason <text>",
  help: "tell the agent why; implies --tell-agent",
} as const satisfies OptionSpec;

export const rewindCommand = command("rewind", "go back to a step, code and conversation together", {
  alias: "jump",
  details:
    "Restores the files of a step, and copies the conversation up to that step so that the agent can continue from there. The current state is saved first; `backtrail redo` restores it. Ignored files are not changed, except those that `capture.include` records. A branch moves only with --reset-head. Your own changes since the step are rewound too, and the plan marks them; with --keep-mine, only agents' changes are reverted, by a three-way merge as in `undo`. If files change while you read the plan, you see a new plan. Without a target, you choose one from a list.",
  arguments: [{ name: "[target]", help: TARGET, completes: "step" }],
  options: [
    { flags: "--code-only", help: "rewind only the files", conflicts: ["chatOnly"] },
    { flags: "--chat-only", help: "rewind only the conversation" },
    {
      flags: "--paths <glob...>",
      help: "only these files, relative to the current directory",
      completes: "path",
      conflicts: ["chatOnly"],
    },
    { flags: "--reset-head", help: "also move the branch back to the step's commit", conflicts: ["keepMine"] },
    {
      flags: "--keep-mine",
      help: "revert only changes of agents, and keep your own changes since",
      conflicts: ["chatOnly"],
    },
    { ...CONFLICTS, help: "with --keep-mine and `markers`: write conflict markers into the files" },
    TELL_AGENT,
    REASON,
    ...CONFIRMATION,
  ],
  examples: [
    ["backtrail rewind", "choose from the timeline"],
    ["backtrail rewind 1", "before the last turn"],
    ["backtrail rewind last --dry-run", "show the plan"],
    ["backtrail rewind 2 --keep-mine", "keep your own edits"],
    ["backtrail rewind 2 --code-only --paths 'src/**'", "only some files"],
  ],
});

export const undoCommand = command("undo", "undo one turn and keep later changes", {
  details:
    "Reverts the changes of a turn, of several turns, or of one subagent, by a three-way merge. Later changes by other turns, other agents and you stay. If the same lines have changed since, the plan shows a conflict, and nothing is written. The current state is saved first; `backtrail redo` restores it. The conversation does not change; --tell-agent makes a copy of it that ends with a notice of what was undone.",
  arguments: [
    {
      name: "[turns...]",
      help: "a number of turns back, `last`, a step of a turn, or the id of a subagent or a session (its newest turn)",
      completes: "turn",
    },
  ],
  options: [
    {
      flags: "-s, --session <id>",
      help: "count only turns of this session, given by its id or the beginning of it",
      completes: "session",
    },
    CONFLICTS,
    TELL_AGENT,
    REASON,
    ...CONFIRMATION,
  ],
  examples: [
    ["backtrail undo", "choose from the timeline"],
    ["backtrail undo last", "the newest turn"],
    ["backtrail undo 2", "only the turn before it"],
    ["backtrail undo 3 2 --dry-run", "show the plan for two turns"],
    ["backtrail undo 2 --session 53dbf6a2", "the second newest turn of a session"],
    ["backtrail undo 1 --tell-agent", "and tell the agent"],
  ],
});

export const redoCommand = command("redo", "undo the last rewind, undo or take; can be repeated", {
  options: CONFIRMATION,
});

export const saveCommand = command("save", "save the current state under a name", {
  details:
    "Saves the current files and the conversation as a step that never expires. You cannot use a name with another meaning (a number, `last`, `HEAD`, an id, a branch). If you reuse a name, it refers to the new step; the earlier step is kept.",
  arguments: [{ name: "[message...]", help: "the step's name, to use as a target" }],
  options: [JSON_OPTION],
  examples: [
    ["backtrail save before the migration", "now"],
    ["backtrail rewind 'before the migration'", "and later"],
  ],
});

export const RESTORE_COMMANDS: readonly CommandSpec[] = [
  lazy(rewindCommand, () => import("./rewind.ts")),
  lazy(undoCommand, () => import("./undo.ts")),
  lazy(redoCommand, () => import("./redo.ts")),
  lazy(saveCommand, () => import("./save.ts")),
];
