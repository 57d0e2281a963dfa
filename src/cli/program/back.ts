/** Going back and forth. A part of the table of commands. */
import { type CommandSpec, DRY_RUN, JSON_OPTION, TARGET, YES } from "./spec.ts";

export const BACK: readonly CommandSpec[] = [
  {
    path: "rewind",
    alias: "jump",
    group: "Go back",
    summary: "go back to a step, code and conversation together",
    details:
      "Brings the files back to how they were at a step, and makes a copy of the conversation that ends there, which the agent can continue. The present state is saved first: `backtrail redo` takes it all back. Ignored files, branches and commits are left alone. Without a target it lets you pick one.",
    arguments: [{ name: "[target]", help: TARGET, completes: "step" }],
    options: [
      { flags: "--code-only", help: "only the files", conflicts: ["chatOnly"] },
      { flags: "--chat-only", help: "only the conversation" },
      { flags: "--paths <glob...>", help: "only these files", conflicts: ["chatOnly"] },
      { flags: "--reset-head", help: "also move the branch back to the step's commit" },
      { flags: "--tell-agent", help: "let the continued conversation begin with what was undone" },
      DRY_RUN,
      YES,
      JSON_OPTION,
    ],
    examples: [
      ["backtrail rewind", "pick from the timeline"],
      ["backtrail rewind 1", "to before the last turn"],
      ["backtrail rewind last --dry-run", "what it would do"],
      ["backtrail rewind 2 --code-only --paths 'src/**'", "only some files"],
    ],
    load: () => import("../commands/rewind.ts"),
  },
  {
    path: "redo",
    group: "Go back",
    summary: "take the last rewind back, again and again",
    options: [DRY_RUN, YES, JSON_OPTION],
    load: () => import("../commands/redo.ts"),
  },
  {
    path: "save",
    group: "Go back",
    summary: "keep the present state under a name",
    arguments: [{ name: "[message...]", help: "a name to find it by, and to give as a target" }],
    options: [JSON_OPTION],
    examples: [
      ["backtrail save before the migration", "now"],
      ["backtrail rewind 'before the migration'", "and later"],
    ],
    load: () => import("../commands/save.ts"),
  },
];
