/** Command table: what agents start: the MCP server and the status line. */
import { type CommandSpec, commandsOf, lazy } from "../../program/spec.ts";

const statuslineCommand = commandsOf("Look back")(
  "statusline",
  "print one line about the session, for an agent's status bar",
  {
    details:
      "Prints the turn, the files that the last turn changed, its check, and how many files `backtrail undo last` would revert. Reads from stdin the JSON that Claude Code gives to its status line. Prints nothing where nothing is recorded.",
  },
);

const mcpCommand = commandsOf("Run agents")("mcp", "serve the record to an agent over MCP", {
  details:
    "Starts a Model Context Protocol server for the current repository. Agents start it themselves after `backtrail enable --mcp`. Its tools read the record, save the current state under a name, and propose to undo or rewind. No tool changes a file: you apply a proposal with `backtrail apply`.",
});

export const MCP_COMMANDS: readonly CommandSpec[] = [
  lazy(statuslineCommand, () => import("./statusline.ts")),
  lazy(mcpCommand, () => import("./mcp.ts")),
];
