/**
 * Keeps a file of ours out of the user's `git status`, through the exclude file that no one else sees. In a folder without
 * git the store's own does it: as a file of the project's the settings would go back with every rewind.
 */
import { join } from "node:path";
import { appendLine, readText } from "../base/files.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";

export async function excludeFromStatus(workspace: Workspace, path: string): Promise<void> {
  const { args, cwd } = gitLocation(workspace);
  const ignored = await tryGit([...args, "check-ignore", "--quiet", "--", path], { cwd });
  if (ignored.code !== 1) return;
  const file = join(workspace.commonDir, "info", "exclude");
  const before = readText(file) ?? "";
  const line = `/${path}`;
  if (before.split("\n").includes(line)) return;
  appendLine(file, before === "" || before.endsWith("\n") ? line : `\n${line}`);
}
