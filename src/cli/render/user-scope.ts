/** Describes how `enable --scope user` applies to a directory. */
import { oneLine, shownPath } from "../../base/text.ts";
import type { UserScopeCoverage } from "../../recording/user-scope/coverage.ts";

const NOT_HERE = "all your git repositories are recorded, except this one";

/** Null if no agent is connected for every repository. */
export function userScopeText(coverage: UserScopeCoverage): string | null {
  if (coverage.kind === "off") return null;
  const scope = `User scope (${coverage.agents.map(oneLine).join(", ")})`;
  switch (coverage.kind) {
    case "recorded":
      return `${scope}: all your git repositories are recorded.`;
    case "disabled":
      return `${scope}: ${NOT_HERE}, where it is turned off.`;
    case "excluded":
      return `${scope}: ${NOT_HERE}: \`scope.exclude\` has ${shownPath(coverage.pattern)}.`;
    case "too-large":
      return `${scope}: ${NOT_HERE}: it is your home directory or the root directory.`;
    case "not-owned":
      return `${scope}: ${NOT_HERE}: it belongs to another user.`;
    case "not-a-repository":
      return `${scope}: all your git repositories are recorded; this is not one.`;
  }
}
