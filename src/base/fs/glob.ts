/**
 * Matches paths as .gitignore does: a pattern without a slash matches a name anywhere, and a pattern that matches a
 * directory covers everything below it.
 */
import { globMatcher } from "../runtime.ts";

export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const matchers = patterns.flatMap((pattern) => {
    // The engine would negate the pattern and match everything else, which is never intended here.
    if (pattern.startsWith("!")) return [];
    let clean = pattern.replace(/^\.?\//, "");
    while (clean.endsWith("/")) clean = clean.slice(0, -1);
    if (clean === "" || clean === ".") return [globMatcher("**")];
    const anywhere = clean.includes("/") || pattern.startsWith("/") || pattern.startsWith("./") ? clean : `**/${clean}`;
    return [globMatcher(anywhere), globMatcher(`${anywhere}/**`)];
  });
  return (path) => matchers.some((matches) => matches(path));
}
