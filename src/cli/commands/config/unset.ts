/** `config unset <key>`: removes one setting from a file. */

import { UserError } from "../../../base/errors.ts";
import { markPush } from "../../../commits/push.ts";
import { canonicalName } from "../../../config/keys.ts";
import { showValue } from "../../../config/values.ts";
import { fileOf, handWrittenFile, unsetValue } from "../../../config/write.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { requireKey, settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import type { configUnsetCommand } from "./commands.ts";
import { layerOf } from "./set.ts";

type Options = OptionsOf<typeof configUnsetCommand>;

export async function run(given: Options, io: Io): Promise<undefined> {
  const options = { ...given, key: canonicalName(given.key) };
  requireKey(options.key);
  const workspace = findWorkspace(io.cwd);
  const layer = layerOf(options, workspace);
  // Users who edit by hand put local settings into the work tree, so look in both files.
  const files = [
    fileOf(layer, workspace ?? null),
    ...(layer === "local" && workspace ? [handWrittenFile(workspace)] : []),
  ];
  const file = files.find((each) => unsetValue(each, layer, options.key));
  const place = placeOf(file ?? files[0] ?? "", workspace?.root ?? null);
  if (file === undefined) {
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
