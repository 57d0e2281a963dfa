/** The section of a profile about starting an MCP server with the agent. */
import * as z from "zod/mini";
import { insidePath, key, name, optionalKey, sentence, variable } from "./values.ts";

const serverFile = z.strictObject({
  path: key(
    insidePath,
    "The file, from the repository's root, or from the home directory for the scope `user`.",
    ".gemini/settings.json",
  ),
  moved_by: optionalKey(
    z.strictObject({
      env: key(variable, "The variable.", "CODEX_HOME"),
      path: key(insidePath, "The path in the directory that it names.", "config.toml"),
    }),
    "A variable that names another directory, and the file's path in it.",
    { env: "CODEX_HOME", path: "config.toml" },
  ),
});
const keys = z.array(name).check(z.minLength(1));

export const mcp = z.strictObject({
  settings: key(
    z.strictObject({
      local: optionalKey(serverFile, "For one user in one repository.", { path: ".gemini/settings.json" }),
      project: optionalKey(serverFile, "For everyone in the repository.", { path: ".gemini/settings.json" }),
      user: optionalKey(serverFile, "For one user, in the home directory.", { path: ".gemini/settings.json" }),
    }),
    "The file that lists servers, for each scope that the agent has: JSON with comments, or TOML by its name.",
    { user: { path: ".gemini/settings.json" } },
  ),
  at: key(keys, "The keys that lead to the table of servers.", ["mcpServers"]),
  entry: key(
    z.record(name, z.union([z.string(), z.boolean(), z.array(z.string())])),
    "The server's entry there. `{executable}` stands for our program.",
    { command: "{executable}", args: ["mcp"] },
  ),
  approval: optionalKey(
    z.strictObject({
      path: key(insidePath, "The file.", ".claude/settings.local.json"),
      at: key(keys, "The keys that lead to the list.", ["enabledMcpjsonServers"]),
    }),
    "A list of servers that the user has approved, for an agent that asks about the servers of a folder.",
    { path: ".claude/settings.local.json", at: ["enabledMcpjsonServers"] },
  ),
  review: optionalKey(
    sentence,
    "What the user has to do before the agent starts the server.",
    "Start it once and approve the server.",
  ),
});

export type McpSection = z.infer<typeof mcp>;
