/** The section of a profile that says where the agent reads commands that a user can type. */
import * as z from "zod/mini";
import { insidePath, key, optionalKey, variable } from "./values.ts";

const directory = z.strictObject({
  path: key(
    insidePath,
    "The directory, from the repository's root, or from the home directory for the scope `user`.",
    ".claude/commands",
  ),
  moved_by: optionalKey(
    z.strictObject({
      env: key(variable, "The variable.", "CLAUDE_CONFIG_DIR"),
      path: key(insidePath, "The path in the directory that it names.", "commands"),
    }),
    "A variable that names another directory, and the path in it.",
    { env: "CLAUDE_CONFIG_DIR", path: "commands" },
  ),
});

export const commands = z.strictObject({
  directories: key(
    z.strictObject({
      local: optionalKey(directory, "For one user in one repository.", { path: ".claude/commands" }),
      project: optionalKey(directory, "For everyone in the repository.", { path: ".claude/commands" }),
      user: optionalKey(directory, "For one user, in the home directory.", { path: ".claude/commands" }),
    }),
    "The directory of commands, one file each, for each scope that the agent has.",
    { local: { path: ".claude/commands" } },
  ),
  format: key(
    z.enum(["markdown", "toml"]),
    "Markdown with a front matter and `$ARGUMENTS`, or TOML with `description`, `prompt` and `{{args}}`.",
    "markdown",
  ),
});
