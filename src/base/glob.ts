/**
 * Patterns for paths, as people expect them from .gitignore: without a slash they match a name anywhere, and a
 * pattern that matches a directory covers everything below it.
 */
export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const globs = patterns.flatMap((pattern) => {
    // To the engine this means everything else, which nobody who writes it here can mean.
    if (pattern.startsWith("!")) return [];
    let clean = pattern.replace(/^\.?\//, "");
    while (clean.endsWith("/")) clean = clean.slice(0, -1);
    if (clean === "" || clean === ".") return [new Bun.Glob("**")];
    const anywhere = clean.includes("/") || pattern.startsWith("/") || pattern.startsWith("./") ? clean : `**/${clean}`;
    return [new Bun.Glob(anywhere), new Bun.Glob(`${anywhere}/**`)];
  });
  return (path) => globs.some((glob) => glob.match(path));
}
