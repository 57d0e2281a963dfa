/** Command table: what agents propose, and applying it. */
import { ALL, DRY_RUN, JSON_OPTION, YES } from "../../program/options.ts";
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const command = commandsOf("Go back");

const PROPOSAL = {
  name: "<proposal>",
  help: "a proposal's id or the beginning of it",
  completes: "proposal",
} as const;

const proposalsCommand = command("proposals", "list what agents propose to undo", {
  details:
    "Agents that `backtrail enable --mcp` connected can propose an undo or a rewind; only you can apply it. A proposal stays open for a day. Apply it with `backtrail apply`, or dismiss it.",
  examples: [
    ["backtrail proposals", "list open proposals"],
    ["backtrail apply kqtx", "show the plan, ask, apply it"],
    ["backtrail proposals dismiss kqtx", "close it"],
  ],
});

export const proposalsListCommand = command("proposals list", "list the proposals of this work tree", {
  isDefault: true,
  options: [{ flags: "--all", help: "also list applied, dismissed and expired proposals" }, JSON_OPTION],
});

export const proposalsDismissCommand = command("proposals dismiss", "close a proposal without applying it", {
  arguments: [PROPOSAL],
  options: [JSON_OPTION],
});

export const applyCommand = command("apply", "apply an agent's proposal", {
  details:
    "Shows the plan that an agent proposed, and applies it if you agree. The current state is saved first; `backtrail redo` restores it. If the files have changed since, you see an updated plan; with --yes, nothing is changed in that case. The agent learns the outcome with its next prompt.",
  arguments: [PROPOSAL],
  options: [DRY_RUN, ALL, YES, JSON_OPTION],
  examples: [
    ["backtrail proposals", "list open proposals"],
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
