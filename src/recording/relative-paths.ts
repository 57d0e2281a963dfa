/** Converts the paths that an agent reports to paths of the work tree. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isInside } from "../base/paths.ts";

/** Paths relative to the work tree's root, without those outside it. */
export function relativePaths(root: string, cwd: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const absolute = resolve(cwd, path);
    return wayBelow(root, absolute) ?? wayBelow(root, withoutLinks(absolute)) ?? [];
  });
}

function wayBelow(root: string, path: string): string | undefined {
  return path !== root && isInside(root, path) ? relative(root, path) : undefined;
}

/** Resolves symbolic links: the agent may use a different path to its directory than git does. */
function withoutLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
