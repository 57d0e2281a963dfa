/** Command table: the MCP server for agents, and what agents propose. */
import { ALL, type CommandSpec, DRY_RUN, JSON_OPTION, YES } from "../../program/spec.ts";

const PROPOSAL = {
  name: "<proposal>",
  help: "its id; the beginning is enough",
  completes: "proposal",
} as const;

export const PROPOSALS: readonly CommandSpec[] = [
  {
    path: "proposals",
    group: "Go back",
    summary: "what agents propose to take back",
    details:
      "Agents that are connected by `backtrail enable --mcp` can propose to undo a turn or to rewind, but can't do it. A proposal stays open for a day. You apply it with `backtrail apply`, or dismiss it.",
    examples: [
      ["backtrail proposals", "those that are open"],
      ["backtrail apply kqtx", "show the plan, ask, apply it"],
      ["backtrail proposals dismiss kqtx", "close it"],
    ],
  },
  {
    path: "proposals list",
    group: "Go back",
    isDefault: true,
    summary: "list the proposals of this work tree",
    options: [{ flags: "--all", help: "also proposals that were applied, dismissed or have expired" }, JSON_OPTION],
    load: () => import("./list.ts"),
  },
  {
    path: "proposals dismiss",
    group: "Go back",
    summary: "close a proposal without applying it",
    arguments: [PROPOSAL],
    options: [JSON_OPTION],
    load: () => import("./dismiss.ts"),
  },
  {
    path: "apply",
    group: "Go back",
    summary: "apply what an agent proposed",
    details:
      "Shows the plan that an agent proposed through MCP and, if you agree, applies it. The current state is saved first: `backtrail redo` takes it back. If the files changed since the proposal, the plan is drawn up again and shown; with --yes, nothing is done then. The agent learns the outcome with its next prompt.",
    arguments: [PROPOSAL],
    options: [DRY_RUN, ALL, YES, JSON_OPTION],
    examples: [
      ["backtrail proposals", "what is proposed"],
      ["backtrail apply kqtx", "show the plan, ask, apply it"],
      ["backtrail apply kqtx --yes --json", "for scripts"],
    ],
    load: () => import("./apply.ts"),
  },
];

export const MCP: readonly CommandSpec[] = [
  {
    path: "statusline",
    group: "Look back",
    summary: "one line about the session, for an agent's status bar",
    details:
      "Prints the turn, the files that the last turn changed, the result of its check, and how many files `backtrail undo last` would take back. Reads the JSON that Claude Code gives its status line on standard input. Prints nothing where nothing is recorded.",
    load: () => import("../mcp/statusline.ts"),
  },
  {
    path: "mcp",
    group: "Run agents",
    summary: "serve the record to an agent, by MCP",
    details:
      "A Model Context Protocol server for the repository around the current directory. Agents start it: `backtrail enable --mcp` tells them to. Its tools read the record, save the current state under a name, and propose to undo or rewind. None of them changes a file: you apply a proposal with `backtrail apply`.",
    load: () => import("../mcp/mcp.ts"),
  },
];
