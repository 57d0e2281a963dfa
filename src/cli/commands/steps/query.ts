/** Turns the filter options of `log` into a query. */
import { existsSync, realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import { requireAgent } from "../../../agents/registry/registry.ts";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { pathMatcher } from "../../../base/fs/glob.ts";
import { isInside } from "../../../base/paths.ts";
import { shownPath } from "../../../base/text.ts";
import { parseTime } from "../../../base/time/parse.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { TurnQuery } from "../../../steps/query/matches.ts";

export interface FilterOptions {
  /** After the options, or after `--`. */
  path?: readonly string[];
  file?: readonly string[];
  agent?: readonly string[];
  grep?: string;
  since?: string;
  before?: string;
}

export async function queryOf(workspace: Workspace, options: FilterOptions, cwd: string): Promise<TurnQuery> {
  const paths = [...(options.path ?? []), ...(options.file ?? [])];
  const agents = await Promise.all((options.agent ?? []).map((name) => agentId(workspace, name)));
  const timeOf = (text: string | undefined) => (text === undefined ? null : parseTime(text, now(), "first"));
  return {
    agents: new Set(agents),
    text: options.grep ?? null,
    changes: paths.length === 0 ? null : pathMatcher(paths.map((path) => patternFor(workspace, path, cwd))),
    since: timeOf(options.since),
    before: timeOf(options.before),
  };
}

/** An agent whose profile no longer exists can still be found by its recorded id. */
async function agentId(workspace: Workspace, name: string): Promise<string> {
  try {
    return (await requireAgent(name, workspace)).profile.id;
  } catch (error) {
    if (stepsIn(workspace).has({ agent: name })) return name;
    throw error;
  }
}

/**
 * Returns a pattern relative to the work tree's root. As in git, a path is relative to the current directory, and a
 * pattern without a slash matches at any depth below it.
 */
export function patternFor({ root }: Pick<Workspace, "root">, text: string, cwd: string): string {
  const absolute = resolve(cwd, text);
  const below = [relativeTo(root, absolute), relativeTo(root, resolve(realpathSync(cwd), text))].find(
    (path) => path !== undefined,
  );
  if (below === undefined) {
    throw new UserError("usage", `${shownPath(text)} is not in this work tree.`, "Name a file of this repository.");
  }
  // A file name may look like a pattern, as in `[id].tsx`.
  const isLiteral = existsSync(absolute) || !/[*?[{]/.test(text);
  if (isLiteral) return `./${below.replace(/[\\*?[\]{}!]/g, "\\$&")}`;
  return text.includes("/") ? `./${below}` : `./${below.slice(0, -text.length)}**/${text}`;
}

function relativeTo(root: string, path: string): string | undefined {
  return isInside(root, path) ? relative(root, path) : undefined;
}
