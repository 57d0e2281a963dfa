/** Checks whether `enable --scope user` covers this location. */
import { loadConfig } from "../../../config/load.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { userScopeCoverage } from "../../../recording/user-scope/coverage.ts";
import { type Finding, ok, warning } from "../finding.ts";

export function checkUserScope(workspace: Workspace | undefined): Finding[] {
  const coverage = userScopeCoverage(workspace, loadConfig(workspace ?? null));
  if (coverage.kind === "off") return [];
  switch (coverage.kind) {
    case "recorded":
    case "not-a-repository":
      return [ok("scope", { kind: "scope-user", agents: coverage.agents, isRepository: coverage.kind === "recorded" })];
    case "disabled":
      return [warning("scope", { kind: "scope-disabled" })];
    case "excluded":
      return [ok("scope", { kind: "scope-excluded", pattern: coverage.pattern })];
    case "too-large":
      return [ok("scope", { kind: "scope-too-large" })];
    case "not-owned":
      return [warning("scope", { kind: "scope-not-owned" })];
  }
}
