/** Formats a file's path as briefly as possible: from the work tree's root, from the home directory, or in full. */
import { relative } from "node:path";
import { homeDirectory, isInside } from "../../../base/paths.ts";
import { shownPath } from "../../../base/text.ts";

export function placeOf(file: string, root: string | null): string {
  if (root !== null && file !== root && isInside(root, file)) return shownPath(relative(root, file));
  const home = homeDirectory();
  if (home !== "/" && file !== home && isInside(home, file)) return `~/${shownPath(relative(home, file))}`;
  return shownPath(file);
}
