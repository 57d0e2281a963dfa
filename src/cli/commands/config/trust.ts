/**
 * `config trust`: shows the settings that a repository requests, and copies them into the user's own settings after
 * confirmation.
 */

import { acceptProfile, type OfferedProfile, offeredProfiles } from "../../../agents/registry/repository-profiles.ts";
import { UserError } from "../../../base/errors.ts";
import { plural, printable } from "../../../base/text.ts";
import { markPush } from "../../../commits/push.ts";
import { canonicalName } from "../../../config/keys.ts";
import type { SettingProblem } from "../../../config/load.ts";
import { showValue } from "../../../config/values.ts";
import { fileOf, setValue } from "../../../config/write.ts";
import { findWorkspace, type Workspace } from "../../../git/workspace.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { requireKey, settingsOf } from "../../shared/settings.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { configTrustCommand } from "./commands.ts";

type Options = OptionsOf<typeof configTrustCommand>;

interface Offer {
  settings: { key: string; value: unknown; from: string }[];
  profiles: OfferedProfile[];
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const keys = (options.key ?? []).map(canonicalName);
  for (const key of keys) requireKey(key);
  const workspace = findWorkspace(io.cwd);
  if (!workspace) throw new UserError("not-found", "There is no repository here.");
  const offer = offerOf(workspace, keys);
  const count = offer.settings.length + offer.profiles.length;
  if (options.json && (count === 0 || options.dryRun || options.yes)) io.json(asJson(offer, !options.dryRun));
  else if (count > 0) print(offer, workspace, io);
  if (count === 0) {
    if (!options.json) io.say("Nothing to accept: no setting of this repository's files is ignored.");
    return EXIT.nothing;
  }
  if (options.dryRun) return undefined;
  if (!options.yes && !(await confirm(io, `Accept ${plural(count, "setting")} as your own?`, "--yes"))) {
    io.say("Nothing was changed.");
    return EXIT.nothing;
  }
  const file = fileOf("local", workspace);
  for (const { key, value } of offer.settings) setValue(file, "local", key, value);
  for (const profile of offer.profiles) await acceptProfile(workspace, profile);
  await markPush(workspace);
  if (!options.json)
    io.say(`Accepted. \`backtrail config unset <key>\` removes a setting (${placeOf(file, workspace.root)}).`);
  return undefined;
}

function offerOf(workspace: Workspace, keys: readonly string[]): Offer {
  const settings = new Map<string, Offer["settings"][number]>();
  // If two files ask for the same setting, the later file wins, as everywhere.
  for (const { key, value, from } of settingsOf(workspace).problems.filter(isRefused))
    if (keys.length === 0 || keys.includes(key)) settings.set(key, { key, value, from });
  return { settings: [...settings.values()], profiles: keys.length === 0 ? offeredProfiles(workspace) : [] };
}

function isRefused(problem: SettingProblem): problem is SettingProblem & { key: string } {
  return problem.kind === "not-trusted" && problem.key !== null;
}

function asJson({ settings, profiles }: Offer, accepted: boolean) {
  return { settings, profiles, accepted: accepted && settings.length + profiles.length > 0 };
}

function print({ settings, profiles }: Offer, { root }: Workspace, io: Io): void {
  const rows = settings.map(({ key, value, from }): Cell[] => [
    { text: printable(key) },
    { text: printable(showValue(value)), paint: (text) => io.out.paint("bold", text) },
    { text: placeOf(from, root), paint: (text) => io.out.paint("dim", text) },
  ]);
  for (const { id, file } of profiles)
    rows.push([{ text: "agent profile" }, { text: id }, { text: placeOf(file, root) }]);
  for (const line of table(rows, io.out.columns)) io.print(line);
}
