/**
 * Patterns for paths, as people expect them from .gitignore: without a slash they match a name anywhere, and a
 * pattern that matches a directory covers everything below it.
 */
export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const globs = patterns.flatMap((pattern) => {
    // To the engine this means everything else, which nobody who writes it here can mean.
    if (pattern.startsWith("!")) return [];
    const clean = pattern.replace(/^\.?\//, "").replace(/\/+$/, "");
    if (clean === "" || clean === ".") return [new Bun.Glob("**")];
    const anywhere = clean.includes("/") || pattern.startsWith("/") || pattern.startsWith("./") ? clean : `**/${clean}`;
    return [new Bun.Glob(anywhere), new Bun.Glob(`${anywhere}/**`)];
  });
  return (path) => globs.some((glob) => glob.match(path));
}
