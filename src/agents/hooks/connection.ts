/** How an agent's turns reach us: by hooks in a file, by hooks that the user makes, by a watched file, or by runs. */
import type { HookEntry } from "../../edit/hook-layouts.ts";
import type { Agent } from "../contract/agent.ts";
import type { Scope } from "../contract/profile.ts";
import { commandFor, entriesFor } from "./edits.ts";
import type { InstallOptions } from "./location.ts";

/** `none`: nothing reports its turns. */
export type Connection = "hooks" | "by-hand" | "watch" | "runs" | "none";

export function connectionOf({
  profile,
  watcher,
  selfInstaller,
}: Pick<Agent, "profile" | "watcher" | "selfInstaller">): Connection {
  const { hooks, run } = profile;
  if (selfInstaller) return "hooks";
  if (Object.keys(hooks?.install ?? {}).length > 0) {
    const isInFile = Object.values(hooks?.settings ?? {}).some((settings) => settings.path !== undefined);
    return isInFile ? "hooks" : "by-hand";
  }
  if (watcher) return "watch";
  return run ? "runs" : "none";
}

/** The commands that the user makes hooks of the agent. */
export function commandsByHand(
  { profile }: Pick<Agent, "profile">,
  scope: Scope,
  options: InstallOptions,
): HookEntry[] {
  return entriesFor(profile, commandFor(profile, scope === "project", options), options.host);
}
