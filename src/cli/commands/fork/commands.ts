/** Command table: forks, and continuing a conversation. */
import { UserError } from "../../../base/errors.ts";
import { ALL, CONFLICTS, DRY_RUN, JSON_OPTION, oneMore, TARGET, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy, type OptionSpec } from "../../program/spec.ts";

const command = commandsOf("Go back");

const LIMIT = {
  flags: "--limit <characters>",
  help: "the handoff's maximum length in characters (default: 24000)",
  parse: characters,
} as const satisfies OptionSpec;
const RUN = { flags: "--run", help: "start the agent right away" } as const satisfies OptionSpec;
const FORK_ARGUMENT = {
  name: "<fork>",
  help: "a fork's name, branch or directory; for the worktree of a run, also the session",
  completes: "fork",
} as const;

export const forkCommand = command("fork", "start a second attempt from any step", {
  details:
    "Creates a git worktree with the files of a step, on its own branch, and a copy of the conversation up to that step. You can then try again without losing the first attempt. This work tree does not change. The fork is beside the repository, in <repository>.forks; for a folder without git, it is a plain directory there.",
  arguments: [{ name: "[target]", help: TARGET, completes: "step" }],
  options: [
    { flags: "-b, --branch <name>", help: "the new branch (default: fork/<name>)" },
    { flags: "-d, --directory <path>", help: "the fork's directory", completes: "path", conflicts: ["branchOnly"] },
    { flags: "--branch-only", help: "create only a branch with the files as a commit, no worktree" },
    {
      flags: "--link <path>",
      help: "link an ignored path into the fork, such as node_modules; repeatable",
      parse: oneMore,
      conflicts: ["branchOnly"],
    },
    {
      flags: "--copy <path>",
      help: "copy an ignored path into the fork, such as .env; repeatable",
      parse: oneMore,
      conflicts: ["branchOnly"],
    },
    { flags: "-a, --agent <id>", help: "hand the conversation over to this agent", completes: "agent" },
    LIMIT,
    RUN,
    JSON_OPTION,
  ],
  examples: [
    ["backtrail fork 1", "from before the last turn"],
    ["backtrail fork 1 --link node_modules --copy .env", "ready to run"],
    ["backtrail fork last --agent codex", "let another agent continue"],
    ["backtrail fork diff again", "compare the two attempts"],
    ["backtrail fork take again", "keep the better one"],
  ],
});

export const forkListCommand = command("fork list", "list forks, and the worktrees of runs", {
  options: [JSON_OPTION],
});

export const forkDiffCommand = command("fork diff", "compare two attempts: files, lines, tokens, time", {
  arguments: [FORK_ARGUMENT],
  options: [{ flags: "-p, --patch", help: "show the diff from this work tree to the fork" }, JSON_OPTION],
});

export const forkTakeCommand = command("fork take", "merge a fork's changes into this work tree", {
  details:
    "Merges the changes that were made in the fork into the files here, and keeps the changes that were made here. If both changed the same lines, it changes nothing, unless --conflicts markers is given. The current state is saved first; `backtrail redo` restores it. The fork, its branch and its commits stay.",
  arguments: [FORK_ARGUMENT],
  options: [
    { flags: "--paths <glob...>", help: "only these files", completes: "path" },
    CONFLICTS,
    DRY_RUN,
    ALL,
    YES,
    JSON_OPTION,
  ],
});

export const forkDropCommand = command("fork drop", "delete a fork; its last state is kept as a step", {
  details:
    "Deletes the fork's directory and branch. First saves its files as a step, and keeps its own commits under a hidden ref. Lists what no step holds, such as ignored files, and asks before it deletes them.",
  arguments: [FORK_ARGUMENT],
  options: [DRY_RUN, YES, JSON_OPTION],
});

export const resumeCommand = command("resume", "continue a conversation, or hand it to another agent", {
  details:
    "Restores a conversation, from the record or from a fetched checkpoint, to where its agent finds it, and prints the command that continues it. Files are not changed. With --agent, another agent gets a summary of the conversation and continues it.",
  arguments: [
    {
      name: "[target]",
      help: "a session (its id or the beginning of it), step, branch, commit or checkpoint",
      completes: "session",
    },
  ],
  options: [
    { flags: "-s, --session <id>", help: "the session, for a checkpoint with several" },
    { flags: "--copy", help: "restore it as a copy with a new id" },
    { flags: "-a, --agent <id>", help: "hand it over to this agent", completes: "agent" },
    LIMIT,
    { flags: "-o, --output <file>", help: "with --agent: write the handoff to this file", completes: "path" },
    RUN,
    { ...YES, help: "don't ask, and overwrite an existing file" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail resume", "pick from the last sessions"],
    ["backtrail resume main --run", "continue the last one on that branch now"],
    ["backtrail resume 1f0c6a2b9d3e", "from a colleague's checkpoint"],
    ["backtrail resume last --agent codex", "let another agent continue"],
  ],
});

export const FORK_COMMANDS: readonly CommandSpec[] = [
  lazy(forkCommand, () => import("./fork.ts")),
  lazy(forkListCommand, () => import("./list.ts")),
  lazy(forkDiffCommand, () => import("./diff.ts")),
  lazy(forkTakeCommand, () => import("./take.ts")),
  lazy(forkDropCommand, () => import("./drop.ts")),
  lazy(resumeCommand, () => import("./resume.ts")),
];

function characters(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= 1_000 && Number(text) <= 100_000) return Number(text);
  throw new UserError("usage", `"${text}" is not a limit.`, "Give a number of characters, from 1000 to 100000.");
}
