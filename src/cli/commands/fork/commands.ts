/** Command table: forks, and continuing a conversation. */
import { UserError } from "../../../base/errors.ts";
import {
  ALL,
  type CommandSpec,
  command,
  DRY_RUN,
  JSON_OPTION,
  lazy,
  type OptionSpec,
  oneMore,
  TARGET,
  YES,
} from "../../program/spec.ts";

const LIMIT = {
  flags: "--limit <characters>",
  help: "the handoff's maximum length in characters (default: 24000)",
  parse: characters,
} as const satisfies OptionSpec;
const RUN = { flags: "--run", help: "start the agent right away" } as const satisfies OptionSpec;
const FORK_ARGUMENT = {
  name: "<fork>",
  help: "its name, branch or directory; for the worktree of a run, also the session",
  completes: "fork",
} as const;

export const forkCommand = command({
  path: "fork",
  group: "Go back",
  summary: "try again beside the first attempt, from any step",
  details:
    "Makes a git worktree with the files as they were at a step, on a branch of its own, and a copy of the conversation that ends there, so that another attempt runs beside the first. Nothing changes in this work tree. It lies beside the repository, in <repository>.forks; a folder without git gets a plain directory there.",
  arguments: [{ name: "[target]", help: TARGET, completes: "step" }],
  options: [
    { flags: "-b, --branch <name>", help: "the new branch (default: fork/<name>)" },
    { flags: "-d, --directory <path>", help: "where it lies", completes: "path", conflicts: ["branchOnly"] },
    { flags: "--branch-only", help: "only a branch, with the files as a commit; no worktree" },
    {
      flags: "--link <path>",
      help: "link this ignored path of yours into it, such as node_modules; any number",
      parse: oneMore,
      conflicts: ["branchOnly"],
    },
    {
      flags: "--copy <path>",
      help: "copy this ignored path of yours into it, such as .env; any number",
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
    ["backtrail fork last --agent codex", "let another agent go on"],
    ["backtrail fork diff again", "both attempts side by side"],
    ["backtrail fork take again", "bring the better one back"],
  ],
});

export const forkListCommand = command({
  path: "fork list",
  group: "Go back",
  summary: "list forks, and the worktrees of runs",
  options: [JSON_OPTION],
});

export const forkDiffCommand = command({
  path: "fork diff",
  group: "Go back",
  summary: "two attempts side by side: files, lines, tokens, time",
  arguments: [FORK_ARGUMENT],
  options: [{ flags: "-p, --patch", help: "also the difference, from here to there" }, JSON_OPTION],
});

export const forkTakeCommand = command({
  path: "fork take",
  group: "Go back",
  summary: "bring a fork's work into this work tree",
  details:
    "Merges what the fork has changed since it was made into the files here, and keeps what was changed here meanwhile. Where both changed the same lines it does nothing, unless the conflicts are to be written into the files. The present state is saved first: `backtrail redo` takes it back. The fork, its branch and its commits stay.",
  arguments: [FORK_ARGUMENT],
  options: [
    { flags: "--paths <glob...>", help: "only these files", completes: "path" },
    {
      flags: "--conflicts <how>",
      help: "`markers` writes what conflicts into the files",
      choices: ["refuse", "markers"],
    },
    DRY_RUN,
    ALL,
    YES,
    JSON_OPTION,
  ],
});

export const forkDropCommand = command({
  path: "fork drop",
  group: "Go back",
  summary: "remove a fork; its last state is kept as a step",
  details:
    "Removes the fork's directory and branch. Its files are saved as a step first, and commits of its own are kept under a hidden name. What no step holds, such as ignored files, is named, and asked about.",
  arguments: [FORK_ARGUMENT],
  options: [DRY_RUN, YES, JSON_OPTION],
});

export const resumeCommand = command({
  path: "resume",
  group: "Go back",
  summary: "go on with a conversation, or hand it to another agent",
  details:
    "Puts a conversation where its agent finds it, from what was recorded here or from a checkpoint that was fetched, and prints the command that continues it. The files are left as they are. With --agent, another agent is told what was said and done, and goes on.",
  arguments: [
    {
      name: "[target]",
      help: "the beginning of a session's id, a step, a branch, a commit, a checkpoint",
      completes: "session",
    },
  ],
  options: [
    { flags: "-s, --session <id>", help: "which session of a checkpoint that has several" },
    { flags: "--copy", help: "under a new id, beside the original" },
    { flags: "-a, --agent <id>", help: "hand it over to this agent", completes: "agent" },
    LIMIT,
    { flags: "-o, --output <file>", help: "with --agent: write the handoff to this file", completes: "path" },
    RUN,
    { ...YES, help: "don't ask, and overwrite a file that exists" },
    JSON_OPTION,
  ],
  examples: [
    ["backtrail resume", "pick from the last sessions"],
    ["backtrail resume main --run", "the last one on that branch, right away"],
    ["backtrail resume 1f0c6a2b9d3e", "what a colleague's checkpoint holds"],
    ["backtrail resume last --agent codex", "let another agent go on"],
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
  throw new UserError("usage", `"${text}" is no limit.`, "Give a number of characters, from 1000 to 100000.");
}
