/** Command table: rewind, undo and redo. */
import {
  CONFIRMATION,
  type CommandSpec,
  command,
  JSON_OPTION,
  lazy,
  type OptionSpec,
  TARGET,
} from "../../program/spec.ts";

const TELL_AGENT = {
  flags: "--tell-agent",
  help: "let the continued conversation know what was undone",
} as const satisfies OptionSpec;
const REASON = {
  flags: "--reason <text>",
  help: "why, for the agent to know; implies --tell-agent",
} as const satisfies OptionSpec;
const CONFLICTS = {
  flags: "--conflicts <how>",
  help: "`markers` writes what conflicts into the files",
  choices: ["refuse", "markers"],
} as const satisfies OptionSpec;

export const rewindCommand = command({
  path: "rewind",
  alias: "jump",
  group: "Go back",
  summary: "go back to a step, code and conversation together",
  details:
    "Brings the files back to how they were at a step, and makes a copy of the conversation that ends there, which the agent can continue. The present state is saved first: `backtrail redo` takes it all back. Ignored files, branches and commits are left alone. Your own changes since then go back too, and the plan marks them; with --keep-mine only what agents' turns changed is taken back, by a three-way merge as in `undo`. If files change while you read the plan, a new one is shown. Without a target it lets you pick one.",
  arguments: [{ name: "[target]", help: TARGET, completes: "step" }],
  options: [
    { flags: "--code-only", help: "only the files", conflicts: ["chatOnly"] },
    { flags: "--chat-only", help: "only the conversation" },
    {
      flags: "--paths <glob...>",
      help: "only these files, relative to the directory you are in",
      completes: "path",
      conflicts: ["chatOnly"],
    },
    { flags: "--reset-head", help: "also move the branch back to the step's commit", conflicts: ["keepMine"] },
    {
      flags: "--keep-mine",
      help: "take back only what agents' turns changed, and keep your own changes since",
      conflicts: ["chatOnly"],
    },
    { ...CONFLICTS, help: "with --keep-mine: `markers` writes what conflicts into the files" },
    TELL_AGENT,
    REASON,
    ...CONFIRMATION,
  ],
  examples: [
    ["backtrail rewind", "pick from the timeline"],
    ["backtrail rewind 1", "to before the last turn"],
    ["backtrail rewind last --dry-run", "what it would do"],
    ["backtrail rewind 2 --keep-mine", "keep your own edits"],
    ["backtrail rewind 2 --code-only --paths 'src/**'", "only some files"],
  ],
});

export const undoCommand = command({
  path: "undo",
  group: "Go back",
  summary: "take one turn back and keep what came later",
  details:
    "Takes the changes of a turn, of several turns, or of one subagent out of the files, by a three-way merge: what later turns, other agents and you have done since stays. Where the same lines were changed since, that is a conflict: it is shown, and nothing is written. The present state is saved first: `backtrail redo` takes it all back. The conversation stays as it is; with --tell-agent a copy of it is made that ends with what was undone.",
  arguments: [
    {
      name: "[turns...]",
      help: "a step of a turn or subagent, `last`, how many turns back, a subagent's id, a session's (its newest turn)",
      completes: "turn",
    },
  ],
  options: [
    {
      flags: "-s, --session <id>",
      help: "count only this session's turns; the beginning of its id is enough",
      completes: "session",
    },
    CONFLICTS,
    TELL_AGENT,
    REASON,
    ...CONFIRMATION,
  ],
  examples: [
    ["backtrail undo", "pick from the timeline"],
    ["backtrail undo last", "the newest turn"],
    ["backtrail undo 2", "the turn before it, and only that one"],
    ["backtrail undo 3 2 --dry-run", "what two turns would take with them"],
    ["backtrail undo 2 --session 53dbf6a2", "of one session among several"],
    ["backtrail undo 1 --tell-agent", "and let the agent know"],
  ],
});

export const redoCommand = command({
  path: "redo",
  group: "Go back",
  summary: "take the last rewind or undo back, again and again",
  options: CONFIRMATION,
});

export const saveCommand = command({
  path: "save",
  group: "Go back",
  summary: "keep the present state under a name",
  details:
    "Keeps the files as they are now, with the conversation, as a step that is never removed by itself. A name that means something else (a number, `last`, `HEAD`, an id, a branch) is refused. A name can be given again: it then means the new step, and the earlier one is kept.",
  arguments: [{ name: "[message...]", help: "a name to find it by, and to give as a target" }],
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
