/** `diff`: compares two steps, or a step and the current files. */

import { pathMatcher } from "../../../base/fs/glob.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { captureOptions } from "../../../recording/dispatcher.ts";
import { resolveTarget } from "../../../restore/targets/resolve.ts";
import { currentSnapshot, diffTrees, patch, patchOfFiles } from "../../../steps/diff.ts";
import { patternsFromRoot } from "../../arguments/patterns.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { colorDiff } from "../../render/diff.ts";
import { fileLines } from "../../render/files.ts";
import { settingsOf } from "../../shared/settings.ts";
import { openForReading } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { diffCommand } from "./commands.ts";

type Options = OptionsOf<typeof diffCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openForReading(io);
  const from = await treeOf(workspace, options.from ?? "prev");
  const to = options.to === undefined ? await presentTree(workspace, io) : await treeOf(workspace, options.to);
  const patterns = patternsFromRoot(workspace, io.cwd, options.paths);
  const chosen = patterns ? pathMatcher(patterns) : () => true;
  const files = (await diffTrees(workspace, from, to)).filter(({ path }) => chosen(path));
  const text = async () =>
    options.paths
      ? patchOfFiles(
          workspace,
          from,
          to,
          files.map(({ path }) => path),
        )
      : patch(workspace, from, to);
  if (options.json) {
    const names = files.map(({ path, status }) => ({ path, status }));
    io.json(options.stat ? { files: names } : { files: names, patch: files.length === 0 ? "" : await text() });
    return;
  }
  if (files.length === 0) {
    io.say("No difference.");
    return;
  }
  const { paint } = io.out;
  if (options.stat) {
    const entries = files.map(({ path, status }) => ({ path, change: status }));
    await page(io, fileLines(entries, paint, { indent: "" }).join("\n"));
    return;
  }
  await page(io, colorDiff((await text()).trimEnd(), paint));
}

async function treeOf(workspace: Workspace, text: string): Promise<string> {
  const target = await resolveTarget(workspace, text);
  return target.kind === "step" ? target.step.snapshot.work : target.tree;
}

async function presentTree(workspace: Workspace, io: Io): Promise<string> {
  const { config } = settingsOf(workspace);
  const options = captureOptions(config);
  return withProgress(io, "Reading the files", async () => (await currentSnapshot(workspace, options)).work);
}
