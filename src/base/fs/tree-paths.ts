/** Paths relative to the root of a work tree, with slashes, as git writes them. */

/** The directories above a path, topmost first. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) parents.push(path.slice(0, at));
  return parents;
}

/** True if the path stays below the root and outside .git on every file system. */
export function isSafePath(path: string): boolean {
  if (path === "" || path.startsWith("/")) return false;
  if (process.platform === "win32" && path.includes("\\")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !isGitDirectory(part));
}

/** Also matches the aliases of .git on Windows and macOS: invisible characters, trailing dots or spaces, git~1. */
function isGitDirectory(name: string): boolean {
  const seen = name.replace(UNSEEN, "").replace(/:.*$/s, "");
  return /^(?:\.git|git~1)[. ]*$/i.test(seen);
}

const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
