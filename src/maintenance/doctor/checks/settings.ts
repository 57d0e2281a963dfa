/** Checks the effective settings, and the failures that hooks logged in the last day. */
import { offeredProfiles } from "../../../agents/registry/repository-profiles.ts";
import { plural, shownPath } from "../../../base/text.ts";
import { loadSettings } from "../../../config/load.ts";
import { tierProblems } from "../../../config/schema.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { isTier, TIER_NAMES, tierRules } from "../../../recording/tiers/tiers.ts";
import { failuresOf } from "../failures.ts";
import { type Finding, ok, warning, within } from "../finding.ts";

const SHOWN = 5;
const ACCEPT = "`backtrail config trust` makes what the repository asks for your own setting.";

export function checkSettings(workspace: Workspace): Finding[] {
  const { config, problems } = loadSettings(workspace);
  const findings = problems.map(({ from, key, kind, message }) =>
    warning(
      "settings",
      `${within(workspace, from)}: ${key ? `${shownPath(key)}: ` : ""}${kind === "not-trusted" ? "ignored, " : ""}${message}`,
      kind === "not-trusted" ? ACCEPT : "`backtrail config` shows what holds.",
    ),
  );
  for (const { file } of offeredProfiles(workspace))
    findings.push(warning("settings", `${within(workspace, file)}: ignored, since you have not accepted it`, ACCEPT));
  for (const [name, tier] of Object.entries(config.tiers)) {
    for (const wrong of tierProblems(tier)) findings.push(warning("settings", `tiers.${name}: ${wrong}`, null));
  }
  if (!isTier(config.tier, config.tiers)) {
    const hint = `Tiers: ${TIER_NAMES.join(", ")}, or one of your own under \`tiers\`.`;
    findings.push(warning("settings", `There is no tier "${shownPath(config.tier)}"; balanced is used.`, hint));
  }
  if (!config.enabled) {
    const hint = "`backtrail config set enabled true`";
    findings.push(warning("settings", "The setting `enabled` is false: nothing is recorded.", hint));
  }
  if (findings.length > 0) return findings;
  return [ok("settings", `tier ${config.tier} (${plural(tierRules(config.tier, config.tiers).length, "rule")})`)];
}

export function checkLog(workspace: Workspace): Finding[] {
  const failures = failuresOf(workspace);
  if (failures.length === 0) return [ok("log", "no failures in the last day")];
  const left = failures.length - SHOWN;
  const findings = failures.slice(0, SHOWN).map(({ where, message, count, last }) => {
    const times = count === 1 ? "once" : `${count} times`;
    return warning("log", `${where}: ${message} (${times}, last ${last})`, null);
  });
  if (left > 0) findings.push(warning("log", `and ${plural(left, "other message")}`, null));
  return findings;
}
