/** `search`: finds what agents were asked, said, ran and changed, in every repository. */
import { resolve } from "node:path";
import { searchWith } from "../../../api/search.ts";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { logTo } from "../../../base/log.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { openSearch, type Search } from "../../../search/search.ts";
import type { PickedHit } from "../../picker/search/state.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { searchLines, searchNotes } from "../../render/search/hits.ts";
import { hitJson } from "../../render/search/json.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withAbortSignal } from "../../terminal/with-abort-signal.ts";
import type { searchCommand } from "./commands.ts";
import { indexingProgress } from "./progress.ts";

const DEFAULT_LIMIT = 20;
const ALL = 1_000_000;

type Options = OptionsOf<typeof searchCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const { words = [], json = false, rebuild = false } = options;
  const text = words.join(" ");
  const hasQuery = text.trim() !== "" || options.added !== undefined || options.removed !== undefined;
  const isPicking = !hasQuery && !rebuild && !json && options.team !== true && io.interactive;
  if (!hasQuery && !rebuild && !isPicking) {
    throw new UserError("usage", "The search is empty.", "Give some words: `backtrail search token refresh`.");
  }
  const workspace = workspaceAt(io);
  if (options.team) return teamHits(text, workspace, options, io);
  if (options.here && !workspace) {
    throw new UserError("usage", "This directory is not in a repository.", "Leave --here out to search everywhere.");
  }
  if (isPicking) return pickAndAct(workspace, options, io);
  const opened = await openSearch(rebuild);
  try {
    const status = await makeReady(opened, workspace, rebuild, io);
    if (!hasQuery) {
      if (json) io.json({ hits: [], total: 0, pending: status.pending });
      else for (const note of searchNotes(status, io.err.paint)) io.say(note);
      return status.readOnly ? EXIT.failed : undefined;
    }
    const { limit = DEFAULT_LIMIT, here, best, added, removed, alive } = options;
    const result = await searchWith(opened, workspace, text, {
      ...{ limit: limit === 0 ? ALL : limit, here, best, added, removed, alive },
    });
    if (json) {
      io.json({ hits: result.hits.map(hitJson), total: result.total, pending: status.pending });
      return undefined;
    }
    const { paint, columns } = io.out;
    if (result.hits.length > 0) await page(io, searchLines(result, { paint, columns, now: now() }).join("\n"));
    for (const note of searchNotes(status, io.err.paint, result)) io.say(note);
    return result.hits.length > 0 ? undefined : EXIT.nothing;
  } finally {
    opened.close();
  }
}

async function pickAndAct(workspace: Workspace | undefined, { here, best }: Options, io: Io) {
  const { pickHit } = await import("../../picker/search/pick-hit.ts");
  const opened = await openSearch();
  let picked: PickedHit;
  try {
    const status = await makeReady(opened, workspace, false, io);
    picked = await pickHit({ opened, status, workspace, here, best }, io);
  } finally {
    opened.close();
  }
  const { act } = await import("./act.ts");
  return act(picked, io);
}

async function teamHits(text: string, workspace: Workspace | undefined, options: Options, io: Io): Promise<number> {
  const { searchTeam } = await import("./team.ts");
  const repository = options.here && workspace ? await teamName(workspace) : undefined;
  return searchTeam({ text, repository, limit: options.limit }, options.json === true, io);
}

/** The team's name for this repository. */
async function teamName(workspace: Workspace): Promise<string> {
  const { readShare, repositoryName } = await import("../../../team/sharing.ts");
  return readShare(workspace)?.repository ?? repositoryName(workspace);
}

function workspaceAt(io: Io): Workspace | undefined {
  const workspace = findWorkspace(resolve(io.cwd));
  if (workspace && isEnabled(workspace)) logTo(workspace.storeDir);
  return workspace;
}

/** Catches up for a short time. The first time, or with --rebuild, until everything is indexed or the user stops. */
async function makeReady(opened: Search, workspace: Workspace | undefined, rebuild: boolean, io: Io) {
  const progress = indexingProgress(io);
  try {
    if (!rebuild && !(opened.isFirst && io.interactive)) return await opened.catchUp({ workspace });
    return await withAbortSignal((signal) =>
      opened.update({ workspace, signal, again: rebuild, onProgress: progress.show }),
    );
  } finally {
    progress.clear();
  }
}
