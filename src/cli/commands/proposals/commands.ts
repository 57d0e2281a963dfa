/** Command table: what agents propose, and applying it. */
import { ALL, type CommandSpec, command, DRY_RUN, JSON_OPTION, lazy, YES } from "../../program/spec.ts";

const PROPOSAL = {
  name: "<proposal>",
  help: "its id; the beginning is enough",
  completes: "proposal",
} as const;

const proposalsCommand = command({
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
});

export const proposalsListCommand = command({
  path: "proposals list",
  group: "Go back",
  isDefault: true,
  summary: "list the proposals of this work tree",
  options: [{ flags: "--all", help: "also proposals that were applied, dismissed or have expired" }, JSON_OPTION],
});

export const proposalsDismissCommand = command({
  path: "proposals dismiss",
  group: "Go back",
  summary: "close a proposal without applying it",
  arguments: [PROPOSAL],
  options: [JSON_OPTION],
});

export const applyCommand = command({
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
});

export const PROPOSAL_COMMANDS: readonly CommandSpec[] = [
  proposalsCommand,
  lazy(proposalsListCommand, () => import("./list.ts")),
  lazy(proposalsDismissCommand, () => import("./dismiss.ts")),
  lazy(applyCommand, () => import("./apply.ts")),
];
