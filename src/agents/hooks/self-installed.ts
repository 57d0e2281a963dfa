/** Installs the hooks of agents that manage their hooks themselves; install.ts handles the others. */
import { basename } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import type { SelfInstaller } from "../contract/agent.ts";
import type { Profile, Scope } from "../contract/profile.ts";
import type { Inspection, InstallOptions, InstallReport } from "./install.ts";

const ENTIRE =
  "It was made for Entire, so its hooks may call `entire`: they reach Backtrail where that is a link to `backtrail`.";

export function installOwn(
  profile: Profile,
  hooks: SelfInstaller,
  asked: Scope,
  { workspace, executable }: InstallOptions,
): InstallReport {
  if (asked !== "local") {
    throw new UserError(
      "usage",
      `${profile.display_name} puts its hooks in place by itself, and knows no scope "${asked}".`,
    );
  }
  hooks.install(workspace.root, executable);
  if (!hooks.areInstalled(workspace.root)) {
    throw new UserError("failed", `${profile.display_name} says that its hooks are not installed after it did so.`);
  }
  const notes = isMadeForEntire(hooks) ? [ENTIRE] : [];
  return { agent: profile.id, scope: "local", files: [], notes, by: hooks.program };
}

export function isMadeForEntire(hooks: SelfInstaller): boolean {
  return basename(hooks.program).startsWith("entire-");
}

export function uninstallOwn(profile: Profile, hooks: SelfInstaller, { workspace }: InstallOptions): InstallReport {
  hooks.uninstall(workspace.root);
  return { agent: profile.id, scope: "local", files: [], notes: [], by: hooks.program };
}

export function inspectOwn(hooks: SelfInstaller, { workspace }: InstallOptions): Inspection {
  const found = { scope: "local", file: hooks.program } as const;
  try {
    return { ...found, state: hooks.areInstalled(workspace.root) ? "installed" : "absent" };
  } catch (error) {
    return { ...found, state: "absent", problem: messageOf(error) };
  }
}
