/** The plain directory of a fork, for folders without git: it shares the store of the folder that it was made from. */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { codeOf, messageOf, UserError } from "../../base/errors.ts";
import { makeDirectory, writeFileAtomic } from "../../base/files.ts";
import { shownPath } from "../../base/text.ts";
import { findWorkspace, privateStorePath, type Workspace } from "../../git/workspace.ts";
import type { ForkRecord } from "../../steps/forks.ts";

/** Made empty; its files come like those of any restore. */
export function addFolder(workspace: Workspace, { directory }: ForkRecord): void {
  if (directory === null) return;
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new UserError(
      "failed",
      `The fork could not be made in ${shownPath(directory)}: ${messageOf(error)}.`,
      "Give another place with --directory.",
    );
  }
  const link = privateStorePath(realpathSync(directory));
  makeDirectory(link);
  writeFileAtomic(join(link, "commondir"), `${workspace.commonDir}\n`);
  writeFileAtomic(join(link, "folder"), `${directory}\n`);
  // The last: with it the folder is known.
  writeFileAtomic(join(link, "HEAD"), `ref: refs/heads/fork-${basename(link, ".git")}\n`);
}

export function forkedFolder(workspace: Workspace, { directory }: ForkRecord): Workspace | undefined {
  const found = directory !== null && existsSync(directory) ? findWorkspace(directory) : undefined;
  if (!found || directory === null || found.commonDir !== workspace.commonDir) return undefined;
  return found.root === realpathSync(directory) && found.gitDir !== found.commonDir ? found : undefined;
}
