/** Command table: what agents start: the MCP server and the status line. */
import { type CommandSpec, command, lazy } from "../../program/spec.ts";

const statuslineCommand = command({
  path: "statusline",
  group: "Look back",
  summary: "one line about the session, for an agent's status bar",
  details:
    "Prints the turn, the files that the last turn changed, the result of its check, and how many files `backtrail undo last` would take back. Reads the JSON that Claude Code gives its status line on standard input. Prints nothing where nothing is recorded.",
});

const mcpCommand = command({
  path: "mcp",
  group: "Run agents",
  summary: "serve the record to an agent, by MCP",
  details:
    "A Model Context Protocol server for the repository around the current directory. Agents start it: `backtrail enable --mcp` tells them to. Its tools read the record, save the current state under a name, and propose to undo or rewind. None of them changes a file: you apply a proposal with `backtrail apply`.",
});

export const MCP_COMMANDS: readonly CommandSpec[] = [
  lazy(statuslineCommand, () => import("./statusline.ts")),
  lazy(mcpCommand, () => import("./mcp.ts")),
];
