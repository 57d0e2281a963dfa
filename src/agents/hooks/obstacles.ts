/** Why an agent would not call installed hooks: an unreadable file, a setting that turns hooks off, a review. */
import { shownPath } from "../../base/text.ts";
import type { Scope } from "../contract/profile.ts";
import { connectionOf } from "./connection.ts";
import { disabledByName, hooksOff, isIgnoredWhole } from "./disabled.ts";
import { entriesFor } from "./edits.ts";
import { inspectAll } from "./install.ts";
import { type Installable, type InstallOptions, inPlace } from "./location.ts";
import { reviewObstacles } from "./trust.ts";

export interface Obstacle {
  kind: "ignored-file" | "off" | "review";
  /** A sentence. */
  message: string;
  hint: string;
}

const NOTHING = "Nothing of it is recorded.";

/** `scope` is the scope of the installed hooks. Changes nothing. */
export async function hookObstacles(
  agent: Installable,
  scope: Scope,
  options: InstallOptions,
  shown: (file: string) => string = shownPath,
): Promise<Obstacle[]> {
  const { profile } = agent;
  if (!profile.hooks || agent.selfInstaller || connectionOf(agent) !== "hooks") return [];
  const obstacles: Obstacle[] = [];
  const found = inspectAll(agent, options);
  const files = found.map(({ file }) => file);
  const place = inPlace(profile, scope, options);
  if (isIgnoredWhole(profile, place.file)) {
    const other = otherScope(
      scope,
      found.filter(({ file }) => !isIgnoredWhole(profile, file)).map((each) => each.scope),
    );
    const remedy = other === undefined ? "" : `, or use \`backtrail enable --agent ${profile.id} --scope ${other}\``;
    obstacles.push({
      kind: "ignored-file",
      message: `${profile.display_name} ignores ${shown(place.file)} with its hooks: it has a comment or a trailing comma.`,
      hint: `Take that out of the file${remedy}.`,
    });
  }
  for (const { file, setting } of hooksOff(profile, files))
    obstacles.push({
      kind: "off",
      message: `${profile.display_name} runs no hooks: ${setting} in ${shown(file)}.`,
      hint: NOTHING,
    });
  const entries = entriesFor(profile, (verb) => verb, options.host);
  for (const { file, count } of disabledByName(profile, files, new Set(entries.flatMap(({ name }) => name ?? [])))) {
    const which = count === 1 ? "a hook" : `${count} hooks`;
    obstacles.push({
      kind: "off",
      message: `${profile.display_name} skips ${which} of Backtrail: ${profile.hooks.disabled_names?.join(".") ?? ""} in ${shown(file)} names them.`,
      hint: "Remove the names that begin with backtrail- from that list.",
    });
  }
  for (const message of await reviewObstacles(agent, place))
    obstacles.push({
      kind: "review",
      message,
      hint: `Start it in a terminal and trust them, or run \`backtrail enable --agent ${profile.id} --trust\`.`,
    });
  return obstacles;
}

/** Prefers a scope that is not shared with colleagues. */
function otherScope(scope: Scope, usable: readonly Scope[]): Scope | undefined {
  return (["local", "user", "project"] as const).find((each) => each !== scope && usable.includes(each));
}
