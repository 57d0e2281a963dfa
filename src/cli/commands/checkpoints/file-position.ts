/** Parses `<file>[:<line>[-<line>]]` into a path relative to the work tree's root and a range of lines. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { UserError } from "../../../base/errors.ts";
import { isInside } from "../../../base/paths.ts";
import { shownPath } from "../../../base/text.ts";
import type { LineWindow } from "../../../checkpoints/blame/blame.ts";
import type { Workspace } from "../../../git/workspace.ts";

export interface FilePlace {
  path: string;
  window: LineWindow | null;
}

export function filePlace(workspace: Workspace, cwd: string, text: string): FilePlace {
  // A file name may itself end in `:<line>`.
  const match = existsSync(resolve(cwd, text)) ? null : /^(.*):(\d{1,9})(?:-(\d{1,9}))?$/s.exec(text);
  const [, name = text, first, last] = match ?? [];
  const path = fromRoot(workspace, cwd, name);
  if (first === undefined) return { path, window: null };
  const window = { from: Number(first), to: Number(last ?? first) };
  if (window.from < 1 || window.to < window.from)
    throw new UserError("usage", `"${first}${last ? `-${last}` : ""}" is not a range of lines.`, "Lines count from 1.");
  return { path, window };
}

function fromRoot(workspace: Workspace, cwd: string, name: string): string {
  const absolute = resolve(cwd, name);
  for (const path of [absolute, withoutLinks(absolute)]) {
    if (path !== workspace.root && isInside(workspace.root, path)) return relative(workspace.root, path);
  }
  throw new UserError("usage", `${shownPath(name)} is not in this work tree.`, "Name a file of this repository.");
}

/** Resolves links, because git may know the directory by another path. */
function withoutLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
