/**
 * Loads settings for commands: the effective values, the problems, and the requests of a repository that are not
 * granted.
 */
import { offeredProfiles } from "../../agents/registry/repository-profiles.ts";
import { UserError } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import { findKey, isGroup, type Key } from "../../config/keys.ts";
import { type Loaded, loadSettings, type SettingProblem } from "../../config/load.ts";
import { suggestKey } from "../../config/suggest.ts";
import type { Workspace } from "../../git/workspace.ts";
import { placeOf } from "../render/layout/location.ts";
import { settingDefectText } from "../render/words/setup/settings.ts";

export function settingsOf(workspace: Workspace | undefined): Loaded {
  return loadSettings(workspace ?? null);
}

export function requireKey(name: string): Key {
  const key = findKey(name);
  if (key) return key;
  const suggestion = suggestKey(name);
  throw new UserError(
    "usage",
    isGroup(name) ? `${name} is a group of settings, not a setting.` : `There is no setting "${name}".`,
    suggestion ? `Did you mean \`${suggestion}\`?` : "`backtrail config` lists them all.",
  );
}

/** One sentence per problem, and per profile that the repository offers and the user has not accepted. */
export function settingsWarnings(workspace: Workspace | undefined, problems: readonly SettingProblem[]): string[] {
  const root = workspace?.root ?? null;
  const profiles = workspace ? offeredProfiles(workspace) : [];
  const ignored = profiles.map(({ file }) => `${placeOf(file, root)} is ignored: ${PROFILE_RULE}; ${ACCEPT}`);
  return [...problems.map((problem) => problemText(problem, root)), ...ignored];
}

const ACCEPT = "`backtrail config trust` accepts it";
const PROFILE_RULE = "a repository's profile is ignored until you accept it";

export function problemText(problem: SettingProblem, root: string | null): string {
  const where = placeOf(problem.from, root);
  if (problem.kind === "unreadable") return `${where} is skipped: ${settingDefectText(problem.defect)}`;
  const suggestion = problem.kind === "unknown-key" && problem.key ? suggestKey(problem.key) : undefined;
  const hint = suggestion ? ` (did you mean ${suggestion}?)` : problem.kind === "not-trusted" ? `; ${ACCEPT}` : "";
  return `${where}: ${shownPath(problem.key ?? "")} is ignored: ${settingDefectText(problem.defect)}${hint}`;
}
