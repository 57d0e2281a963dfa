/** `config set <key> <value>`: changes one setting for the user (here or everywhere), or in the shared file. */

import { UserError } from "../../../base/errors.ts";
import { shownPath } from "../../../base/text.ts";
import { markPush } from "../../../commits/push.ts";
import { canonicalName, type Key } from "../../../config/keys.ts";
import { defaultConfig, loadConfig, valueAt } from "../../../config/load.ts";
import { permitted } from "../../../config/repository.ts";
import { tierProblems } from "../../../config/schema.ts";
import { parseTextValue, showValue } from "../../../config/values.ts";
import { fileOf, setValue, type WritableLayer } from "../../../config/write.ts";
import { findWorkspace, type Workspace } from "../../../git/workspace.ts";
import { isTier, TIER_NAMES } from "../../../recording/tiers/tiers.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { ruleText, settingDefectText } from "../../render/words/setup/settings.ts";
import { requireKey, settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import type { configSetCommand } from "./commands.ts";

export interface ScopeOptions {
  user?: boolean;
  project?: boolean;
  local?: boolean;
}

type Options = OptionsOf<typeof configSetCommand>;

export async function run(given: Options, io: Io): Promise<undefined> {
  const options = { ...given, key: canonicalName(given.key) };
  const key = requireKey(options.key);
  const parsed = parseTextValue(key, options.value);
  if ("wrong" in parsed) throw new UserError("usage", `${options.key}: ${settingDefectText(parsed.wrong)}.`);
  const wrong = key.kind === "rules" ? tierProblems(parsed.value) : [];
  if (wrong.length > 0) throw new UserError("usage", `${options.key}: ${wrong.join("; ")}`);
  const workspace = findWorkspace(io.cwd);
  if (options.key === "tier") requireTier(String(parsed.value), workspace);
  const layer = key.userOnly && !options.local && !options.project ? "user" : layerOf(options, workspace);
  if (key.userOnly && layer !== "user") {
    throw new UserError("refused", `${options.key} is only allowed in your own settings.`, "Give --user.");
  }
  if (layer === "project") requirePermitted(key, options.key, parsed.value);
  const file = fileOf(layer, workspace ?? null);
  // Keep the size as typed: "2 GiB" is clearer than 2147483648.
  const kept = key.kind === "size" && !/^\d+$/.test(options.value) ? options.value : parsed.value;
  const changed = setValue(file, layer, options.key, kept);
  if (workspace && options.key.startsWith("push.")) await markPush(workspace);
  if (options.json) io.json({ key: options.key, value: parsed.value, layer, file, changed });
  else
    io.say(
      `${options.key} is ${changed ? "now" : "already"} ${showValue(kept)} (${placeOf(file, workspace?.root ?? null)}).`,
    );
  warnIfHidden(options.key, layer, workspace, io);
}

/** Refuses to write a value that would be ignored in a repository's file. */
function requirePermitted(key: Key, name: string, value: unknown): void {
  if ("value" in permitted(key.repository, value, valueAt(defaultConfig(), name))) return;
  throw new UserError(
    "refused",
    `${name} would be ignored there: a repository's file ${ruleText(key.repository)}.`,
    "Set it for yourself: here without --project, or everywhere with --user.",
  );
}

/** Local by default; outside of any repository, only the user's own file exists. */
export function layerOf(options: ScopeOptions, workspace: Workspace | undefined): WritableLayer {
  if (options.user) return "user";
  if (options.project) return "project";
  return options.local || workspace ? "local" : "user";
}

function requireTier(tier: string, workspace: Workspace | undefined): void {
  const { tiers } = loadConfig(workspace ?? null);
  if (isTier(tier, tiers)) return;
  throw new UserError(
    "usage",
    `tier: there is no tier "${shownPath(tier)}".`,
    `There are ${[...TIER_NAMES, ...Object.keys(tiers)].join(", ")}; \`backtrail config set tiers.<name> …\` defines a new one.`,
  );
}

/** Warns if a later layer overrides the new value. */
function warnIfHidden(key: string, layer: WritableLayer, workspace: Workspace | undefined, io: Io): void {
  const holds = settingsOf(workspace).settings.get(key);
  if (holds && holds.layer !== layer) {
    io.say(
      `${io.err.paint("yellow", "warning:")} ${placeOf(holds.from ?? holds.layer, workspace?.root ?? null)} says ${showValue(holds.value)}, and wins.`,
    );
  }
}
