/** Decides whether `enable --scope user` records a location, and if not, why. Checks only paths and ownership. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, parse } from "node:path";
import { pathMatcher } from "../../base/fs/glob.ts";
import type { Config } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import { readUserScope } from "./record.ts";

export type PlaceCoverage =
  | { kind: "recorded" | "not-a-repository" }
  /** Matches this pattern of `scope.exclude`. */
  | { kind: "excluded"; pattern: string }
  /** The repository is the home directory or the whole disk: too large to record without an explicit request. */
  | { kind: "too-large" }
  /** The repository belongs to another user, and git does not trust it. */
  | { kind: "not-owned" };

export type UserScopeCoverage =
  /** No agent is connected by `enable --scope user`. */
  | { kind: "off" }
  /** `disabled`: the setting `enabled` is false, as `disable` leaves it. */
  | ((PlaceCoverage | { kind: "disabled" }) & { agents: string[] });

export function userScopeCoverage(
  workspace: Workspace | undefined,
  { enabled, scope }: Pick<Config, "enabled" | "scope">,
): UserScopeCoverage {
  const record = readUserScope();
  if (!record) return { kind: "off" };
  const agents = Object.keys(record.agents);
  const place = placeCoverage(workspace, scope.exclude);
  return { ...(place.kind === "recorded" && !enabled ? { kind: "disabled" } : place), agents };
}

/** The coverage of a location, whether or not an agent is connected. */
export function placeCoverage(workspace: Workspace | undefined, exclude: readonly string[]): PlaceCoverage {
  if (workspace?.kind !== "repository") return { kind: "not-a-repository" };
  const pattern = exclude.find((each) => isBelow(workspace.root, each));
  if (pattern !== undefined) return { kind: "excluded", pattern };
  if (isWholeHome(workspace.root)) return { kind: "too-large" };
  return { kind: isOwn(workspace) ? "recorded" : "not-owned" };
}

/** `~` is the home directory. A pattern without a slash matches any directory of that name, as in `.gitignore`. */
function isBelow(root: string, pattern: string): boolean {
  const whole = pattern === "~" || pattern.startsWith("~/") ? join(homeDirectory(), pattern.slice(1)) : pattern;
  // The user's pattern may contain a symbolic link.
  const real = whole.startsWith("/") && existsSync(whole) ? [whole, realpathSync(whole)] : [whole];
  return pathMatcher(real)(root.slice(parse(root).root.length));
}

function isWholeHome(root: string): boolean {
  const home = homeDirectory();
  return root === parse(root).root || (existsSync(home) && realpathSync(home) === root);
}

function isOwn({ commonDir }: Workspace): boolean {
  const user = process.getuid?.();
  return user === undefined || statSync(commonDir, { throwIfNoEntry: false })?.uid === user;
}

function homeDirectory(): string {
  return process.env["HOME"] || homedir();
}
