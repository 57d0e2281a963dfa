/** Converts file patterns from the command line, which are relative to the current directory. */
import { realpathSync } from "node:fs";
import { posix, relative, sep } from "node:path";
import { UserError } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";

/**
 * Returns the patterns relative to the work tree's root. As in .gitignore, a pattern without a slash matches a name in
 * any directory below, and a pattern with a leading slash starts at the root.
 */
export function patternsFromRoot(
  { root }: Pick<Workspace, "root">,
  cwd: string,
  patterns: readonly string[] | undefined,
): string[] | undefined {
  const below = relative(root, realpathSync(cwd)).split(sep).join("/");
  return patterns?.map((pattern) => fromRoot(pattern, root, below));
}

function fromRoot(pattern: string, root: string, below: string): string {
  // Shells also complete absolute paths.
  if (pattern === root || pattern.startsWith(`${root}/`)) return `/${literal(pattern.slice(root.length + 1))}`;
  if (pattern.startsWith("/") || pattern.startsWith("!")) return pattern;
  const name = withoutTrailingSlashes(pattern);
  if (!name.includes("/") && name !== "." && name !== "..")
    return below === "" ? pattern : `/${literal(below)}/**/${name}`;
  const whole = posix.normalize(`${literal(below)}/${pattern}`.replace(/^\//, ""));
  if (whole !== ".." && !whole.startsWith("../")) return `/${whole === "." ? "" : whole}`;
  throw new UserError(
    "usage",
    `${shownPath(pattern)} is outside of ${shownPath(root)}.`,
    "Patterns are relative to the directory that you are in; one that begins with / starts at the root of the work tree.",
  );
}

/** Escapes a directory name for use in a pattern. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}!]/g, "\\$&");
}

function withoutTrailingSlashes(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === "/") end--;
  return pattern.slice(0, end);
}
