/** Changed files, as paths from the root of the work tree. */
export interface FileChanges {
  added: string[];
  modified: string[];
  deleted: string[];
}

export function changedPaths({ added, modified, deleted }: FileChanges): string[] {
  return [...added, ...modified, ...deleted];
}
