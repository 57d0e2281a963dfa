/** Checks the effective settings, and the failures that hooks logged in the last day. */
import { offeredProfiles } from "../../../agents/registry/repository-profiles.ts";
import { loadSettings } from "../../../config/load.ts";
import { tierProblems } from "../../../config/schema.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { isTier, TIER_NAMES, tierRules } from "../../../recording/tiers/tiers.ts";
import { failuresOf } from "../failures.ts";
import { type Finding, ok, warning, within } from "../finding.ts";

const MAX_FAILURES = 5;

export function checkSettings(workspace: Workspace): Finding[] {
  const { config, problems } = loadSettings(workspace);
  const findings = problems.map(({ from, key, kind, defect }) => {
    const file = within(workspace, from);
    const isUntrusted = kind === "not-trusted";
    return warning("settings", { kind: "setting-ignored", file, key, defect, isUntrusted });
  });
  for (const { file } of offeredProfiles(workspace))
    findings.push(warning("settings", { kind: "profile-untrusted", file: within(workspace, file) }));
  for (const [name, tier] of Object.entries(config.tiers))
    for (const reason of tierProblems(tier))
      findings.push(warning("settings", { kind: "tier-invalid", tier: name, reason }));
  const { tier, tiers } = config;
  if (!isTier(tier, tiers)) findings.push(warning("settings", { kind: "tier-unknown", tier, known: TIER_NAMES }));
  if (!config.enabled) findings.push(warning("settings", { kind: "recording-off" }));
  if (findings.length > 0) return findings;
  return [ok("settings", { kind: "settings-valid", tier, rules: tierRules(tier, tiers).length })];
}

export function checkLog(workspace: Workspace): Finding[] {
  const failures = failuresOf(workspace);
  if (failures.length === 0) return [ok("log", { kind: "log-empty" })];
  const findings = failures
    .slice(0, MAX_FAILURES)
    .map((failure) => warning("log", { kind: "log-failure", ...failure }));
  const messages = failures.length - MAX_FAILURES;
  if (messages > 0) findings.push(warning("log", { kind: "log-more", messages }));
  return findings;
}
