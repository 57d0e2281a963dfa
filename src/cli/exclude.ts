/** Keeps a file of ours out of the user's `git status`, through the exclude file that no one else sees. */
import { join } from "node:path";
import { appendLine, readText } from "../base/files.ts";
import { tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";

export async function excludeFromStatus(workspace: Workspace, path: string): Promise<void> {
  if (workspace.kind === "private") return;
  const ignored = await tryGit(["check-ignore", "--quiet", "--", path], { cwd: workspace.root });
  if (ignored.code !== 1) return;
  const file = join(workspace.commonDir, "info", "exclude");
  const before = readText(file) ?? "";
  const line = `/${path}`;
  if (before.split("\n").includes(line)) return;
  appendLine(file, before === "" || before.endsWith("\n") ? line : `\n${line}`);
}
