/** `config unset <key>`: takes one setting out of a file. */
import { UserError } from "../../../base/errors.ts";
import { showValue } from "../../../config/values.ts";
import { fileOf, unsetValue } from "../../../config/write.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { markPush } from "../../../lifecycle/pushing.ts";
import type { Io } from "../../io.ts";
import { placeOf } from "../../render/place.ts";
import { requireKey, settingsOf } from "../../settings.ts";
import { layerOf, type ScopeOptions } from "./set.ts";

interface Options extends ScopeOptions {
  key: string;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  requireKey(options.key);
  const workspace = findWorkspace(io.cwd);
  const layer = layerOf(options, workspace);
  const file = fileOf(layer, workspace?.root ?? null);
  const place = placeOf(file, workspace?.root ?? null);
  if (!unsetValue(file, layer, options.key)) {
    throw new UserError(
      "not-found",
      `${options.key} is not set in ${place}.`,
      "`backtrail config` shows where each value comes from.",
    );
  }
  if (workspace && options.key.startsWith("push.")) await markPush(workspace);
  if (options.json) {
    io.json({ key: options.key, layer, file, changed: true });
    return;
  }
  const holds = settingsOf(workspace).settings.get(options.key);
  io.say(
    `${options.key} is no longer set in ${place}${holds ? `; ${showValue(holds.value)} holds now (${holds.layer})` : ""}.`,
  );
}
