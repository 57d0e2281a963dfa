/** `diff`: what changed between two steps, or between a step and the files as they are now. */
import { pathMatcher } from "../../base/glob.ts";
import type { Workspace } from "../../git/workspace.ts";
import { resolveTarget } from "../../restore/target.ts";
import { currentSnapshot, diffTrees, patch } from "../../steps/diff.ts";
import type { Io } from "../io.ts";
import { page } from "../pager.ts";
import { withProgress } from "../progress.ts";
import { colourDiff } from "../render/diff.ts";
import { fileLines } from "../render/files.ts";
import { settingsOf } from "../settings.ts";
import { lookIntoWorkspace } from "../workspace.ts";

const PATHS_AT_ONCE = 500;

interface Options {
  from?: string;
  to?: string;
  paths?: string[];
  stat?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await lookIntoWorkspace(io);
  const from = await treeOf(workspace, options.from ?? "prev");
  const to = options.to === undefined ? await presentTree(workspace, io) : await treeOf(workspace, options.to);
  const chosen = options.paths ? pathMatcher(options.paths) : () => true;
  const files = (await diffTrees(workspace, from, to)).filter(({ path }) => chosen(path));
  const text = async () =>
    options.paths
      ? patchOf(
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
  await page(io, colourDiff((await text()).trimEnd(), paint));
}

async function treeOf(workspace: Workspace, text: string): Promise<string> {
  const target = await resolveTarget(workspace, text);
  return target.kind === "step" ? target.step.snapshot.work : target.tree;
}

async function presentTree(workspace: Workspace, io: Io): Promise<string> {
  const { config } = settingsOf(workspace);
  const options = { maxFileSize: config.capture.max_file_size, exclude: config.capture.exclude };
  return withProgress(io, "Looking at the files", async () => (await currentSnapshot(workspace, options)).work);
}

/** Names, not patterns: they were chosen by our own rules, and a command line takes only so many. */
async function patchOf(workspace: Workspace, from: string, to: string, paths: readonly string[]): Promise<string> {
  let text = "";
  for (let i = 0; i < paths.length; i += PATHS_AT_ONCE) {
    const literal = paths.slice(i, i + PATHS_AT_ONCE).map((path) => path.replace(/[\\*?[\]]/g, "\\$&"));
    text += await patch(workspace, from, to, literal);
  }
  return text;
}
