/** `config get <key>`: one setting's value on stdout. */
import { UserError } from "../../../base/errors.ts";
import { showValue } from "../../../config/values.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import type { Io } from "../../io.ts";
import { requireKey, settingsOf } from "../../settings.ts";

interface Options {
  key: string;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  requireKey(options.key);
  const loaded = settingsOf(findWorkspace(io.cwd));
  let value: unknown = loaded.config;
  for (const part of options.key.split(".")) value = (value as Record<string, unknown> | null | undefined)?.[part];
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
