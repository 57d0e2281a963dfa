/** Settings as commands see them: with the help of git, which says whether a file is tracked. */
import { UserError } from "../base/errors.ts";
import { shownPath } from "../base/text.ts";
import { suggestKey } from "../config/describe.ts";
import { findKey, isGroup, type Key } from "../config/keys.ts";
import { type ConfigProblem, type Loaded, loadSettings } from "../config/load.ts";
import { isTracked } from "../git/tracked.ts";
import type { Workspace } from "../git/workspace.ts";
import { placeOf } from "./render/place.ts";

export function settingsOf(workspace: Workspace | undefined): Loaded {
  if (!workspace) return loadSettings(null);
  return loadSettings(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
}

export function requireKey(name: string): Key {
  const key = findKey(name);
  if (key) return key;
  const suggestion = suggestKey(name);
  throw new UserError(
    "usage",
    isGroup(name) ? `${name} is a group of settings, not one of them.` : `There is no setting "${name}".`,
    suggestion ? `Did you mean \`${suggestion}\`?` : "`backtrail config` lists them all.",
  );
}

export function problemText(problem: ConfigProblem, root: string | null): string {
  const where = placeOf(problem.from, root);
  if (problem.kind === "unreadable") return `${where} is skipped: ${problem.message}`;
  const suggestion = problem.kind === "unknown-key" && problem.key ? suggestKey(problem.key) : undefined;
  const hint = suggestion ? ` (did you mean ${suggestion}?)` : "";
  return `${where}: ${shownPath(problem.key ?? "")} is ignored: ${problem.message}${hint}`;
}
