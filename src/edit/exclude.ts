/** Adds paths to the repository's `info/exclude`, below a comment that gives the reason. */
import { type Edit, lineEdit } from "./edit.ts";

/** `gitPaths` are relative to the root of the work tree, as git writes paths. */
export function excludeEdit(comment: string, ...gitPaths: readonly string[]): Edit {
  const patterns = gitPaths.map((path) => `/${path.replace(/[\\*?[\]]/g, "\\$&").replace(/ $/, "\\ ")}`);
  return lineEdit(comment, Buffer.from(patterns.join("\n"), "utf8").toString("latin1"));
}
