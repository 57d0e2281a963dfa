/** Checks whether `enable --scope user` covers this location. */
import { loadConfig } from "../../../config/load.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { userScopeCoverage } from "../../../recording/user-scope/coverage.ts";
import { type Finding, ok, warning } from "../finding.ts";

export function checkUserScope(workspace: Workspace | undefined): Finding[] {
  const coverage = userScopeCoverage(workspace, loadConfig(workspace ?? null));
  if (coverage.kind === "off") return [];
  const agents = coverage.agents.join(", ");
  switch (coverage.kind) {
    case "recorded":
      return [ok("scope", `user: every git repository of yours is recorded (${agents})`)];
    case "not-a-repository":
      return [ok("scope", `user: every git repository of yours is recorded (${agents}); this is not one`)];
    case "disabled":
      return [warning("scope", "Recording is turned off in this repository.", "`backtrail enable` turns it on.")];
    case "excluded":
      return [ok("scope", `user, but \`scope.exclude\` has ${coverage.pattern}: this repository is not recorded`)];
    case "too-large":
      return [ok("scope", "user, but not here: this is the home directory or the whole disk")];
    case "not-owned":
      return [warning("scope", "This repository belongs to another user, so it is not recorded.", null)];
  }
}
