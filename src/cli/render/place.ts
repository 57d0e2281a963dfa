/** Where a file is, as briefly as it can be said: from the work tree's root, from the home directory, or in full. */
import { homedir } from "node:os";
import { relative } from "node:path";
import { isInside } from "../../base/paths.ts";
import { shownPath } from "../../base/text.ts";

export function placeOf(file: string, root: string | null): string {
  if (root !== null && file !== root && isInside(root, file)) return shownPath(relative(root, file));
  const home = process.env["HOME"] || homedir();
  if (home !== "/" && file !== home && isInside(home, file)) return `~/${shownPath(relative(home, file))}`;
  return shownPath(file);
}
