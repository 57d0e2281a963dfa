/** `config set <key> <value>`: changes one setting in the local, the shared or the user's file. */
import { UserError } from "../../../base/errors.ts";
import { shownPath } from "../../../base/text.ts";
import { loadConfig } from "../../../config/load.ts";
import { tierProblems } from "../../../config/schema.ts";
import { parseTextValue, showValue } from "../../../config/values.ts";
import { fileOf, setValue, type WritableLayer } from "../../../config/write.ts";
import { findWorkspace, type Workspace } from "../../../git/workspace.ts";
import { markPush } from "../../../lifecycle/pushing.ts";
import { isTier, TIER_NAMES } from "../../../lifecycle/tiers.ts";
import { excludeFromStatus } from "../../exclude.ts";
import type { Io } from "../../io.ts";
import { placeOf } from "../../render/place.ts";
import { requireKey, settingsOf } from "../../settings.ts";

export interface ScopeOptions {
  user?: boolean;
  project?: boolean;
  local?: boolean;
}

interface Options extends ScopeOptions {
  key: string;
  value: string;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const key = requireKey(options.key);
  const parsed = parseTextValue(key, options.value);
  if ("wrong" in parsed) throw new UserError("usage", `${options.key}: ${parsed.wrong}.`);
  const wrong = key.kind === "rules" ? tierProblems(parsed.value) : [];
  if (wrong.length > 0) throw new UserError("usage", `${options.key}: ${wrong.join("; ")}`);
  const workspace = findWorkspace(io.cwd);
  const layer = key.userOnly && !options.local && !options.project ? "user" : layerOf(options, workspace);
  if (key.userOnly && layer !== "user") {
    throw new UserError("refused", `${options.key} counts only from your own settings.`, "Give --user.");
  }
  if (key.guarded && layer === "project") {
    throw new UserError(
      "refused",
      `${options.key} does not count from a file that others share.`,
      "Leave --project out to set it for yourself, here; --user sets it everywhere.",
    );
  }
  const file = fileOf(layer, workspace?.root ?? null);
  // Sizes stay as they were written: "2 GiB" says more than 2147483648.
  const kept = key.kind === "size" && !/^\d+$/.test(options.value) ? options.value : parsed.value;
  const changed = setValue(file, layer, options.key, kept);
  if (layer === "local" && workspace) await excludeFromStatus(workspace, ".backtrail/settings.local.json");
  if (workspace && options.key.startsWith("push.")) await markPush(workspace);
  if (options.json) io.json({ key: options.key, value: parsed.value, layer, file, changed });
  else
    io.say(
      `${options.key} is ${changed ? "now" : "already"} ${showValue(kept)} (${placeOf(file, workspace?.root ?? null)}).`,
    );
  warnIfHidden(options.key, layer, workspace, io);
  if (options.key === "tier") warnIfUnknown(String(parsed.value), workspace, io);
}

/** Local by default; outside of any repository, the user's own file is all there is. */
export function layerOf(options: ScopeOptions, workspace: Workspace | undefined): WritableLayer {
  if (options.user) return "user";
  if (options.project) return "project";
  return options.local || workspace ? "local" : "user";
}

/** It may be described later, so it is not refused. */
function warnIfUnknown(tier: string, workspace: Workspace | undefined, io: Io): void {
  if (isTier(tier, loadConfig(workspace?.root ?? null).tiers)) return;
  io.say(
    `${io.err.paint("yellow", "warning:")} there is no tier "${shownPath(tier)}", so balanced is used; there are ${TIER_NAMES.join(", ")}.`,
  );
}

/** A value that a later layer hides would leave its user wondering. */
function warnIfHidden(key: string, layer: WritableLayer, workspace: Workspace | undefined, io: Io): void {
  const holds = settingsOf(workspace).settings.get(key);
  if (holds && holds.layer !== layer) {
    io.say(
      `${io.err.paint("yellow", "warning:")} ${placeOf(holds.from ?? holds.layer, workspace?.root ?? null)} says ${showValue(holds.value)}, and wins.`,
    );
  } else if (!holds) {
    io.say(`${io.err.paint("yellow", "warning:")} it does not count there: git tracks the file.`);
  }
}
