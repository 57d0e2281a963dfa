/** `config get <key>`: prints one setting's value on stdout. */

import { UserError } from "../../../base/errors.ts";
import { canonicalName } from "../../../config/keys.ts";
import { valueAt } from "../../../config/load.ts";
import { showValue } from "../../../config/values.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { requireKey, settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";
import type { configGetCommand } from "./commands.ts";

type Options = OptionsOf<typeof configGetCommand>;

export async function run(given: Options, io: Io): Promise<undefined> {
  const options = { ...given, key: canonicalName(given.key) };
  requireKey(options.key);
  const loaded = settingsOf(findWorkspace(io.cwd));
  const value = valueAt(loaded.config, options.key);
  const setting = loaded.settings.get(options.key);
  if (options.json) {
    io.json({
      key: options.key,
      value: value ?? null,
      layer: setting?.layer ?? "default",
      from: setting?.from ?? null,
    });
    return;
  }
  if (value === null || value === undefined) {
    throw new UserError(
      "not-found",
      `${options.key} is not set.`,
      `\`backtrail config set ${options.key} <value>\` sets it.`,
    );
  }
  io.print(showValue(value));
}
