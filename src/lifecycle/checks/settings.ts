/** The settings that hold here, and what hooks had to say in the last day. */
import { plural, shownPath } from "../../base/text.ts";
import { loadSettings } from "../../config/load.ts";
import { tierProblems } from "../../config/schema.ts";
import { isTracked } from "../../git/tracked.ts";
import type { Workspace } from "../../git/workspace.ts";
import { failuresOf } from "../failures.ts";
import { type Finding, ok, warning, within } from "../finding.ts";
import { isTier, TIER_NAMES, tierRules } from "../tiers.ts";

const SHOWN = 5;

export function checkSettings(workspace: Workspace): Finding[] {
  const { config, problems } = loadSettings(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
  const findings = problems.map(({ from, key, message }) =>
    warning(
      "settings",
      `${within(workspace, from)}: ${key ? `${shownPath(key)}: ` : ""}${message}`,
      "`backtrail config` shows what holds.",
    ),
  );
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
