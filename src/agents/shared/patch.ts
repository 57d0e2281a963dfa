/** Reads the paths from patches in Codex's format, which other agents use too: one line names each changed file. */
const FILE_LINE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/;

export function patchedPaths(patch: string): string[] {
  const paths = new Set<string>();
  for (const line of patch.split("\n")) {
    const path = line.startsWith("*** ") ? FILE_LINE.exec(line)?.[1]?.trim() : undefined;
    if (path && !path.includes("\0")) paths.add(path);
  }
  return [...paths];
}
