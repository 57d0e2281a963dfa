/** Patches in the format of Codex, which others take as well: they name the files that they change, each in a line of its own. */
const FILE_LINE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/;

export function patchedPaths(patch: string): string[] {
  const paths = new Set<string>();
  for (const line of patch.split("\n")) {
    const path = line.startsWith("*** ") ? FILE_LINE.exec(line)?.[1]?.trim() : undefined;
    if (path && !path.includes("\0")) paths.add(path);
  }
  return [...paths];
}
