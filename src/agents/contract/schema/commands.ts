/** The section of a profile that says where the agent reads commands that a user can type. */
import * as z from "zod/mini";
import { insidePath, key, optionalKey, variable } from "./values.ts";

const directory = z.strictObject({
  path: key(insidePath, "The directory, from the repository's root, or from the home directory for the scope `user`."),
  moved_by: optionalKey(
    z.strictObject({ env: variable, path: insidePath }),
    "A variable that names another directory, and the path in it.",
    { env: "CLAUDE_CONFIG_DIR", path: "commands" },
  ),
});

export const commands = z.strictObject({
  directories: key(
    z.strictObject({
      local: z.optional(directory),
      project: z.optional(directory),
      user: z.optional(directory),
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
