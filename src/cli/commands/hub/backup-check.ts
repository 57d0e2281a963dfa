/** `hub backup-check`: whether a restored database may be served. */
import { plural } from "../../../base/text.ts";
import { type Check, checkIndex } from "../../../hub/database/backup-check.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubBackupCheckCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubBackupCheckCommand>;

const PROBLEMS: Readonly<Record<Check["name"], string>> = {
  policies: "tables without row-level security",
  tombstones: "forgotten sessions that are back",
  texts: "texts above the level of their turn",
  levels: "turns above the level that their author shares",
  counts: "counts of days that do not agree with their turns",
  partitions: "turns without their session",
};

export async function run(options: Options, io: Io): Promise<number> {
  const checks = await withDatabase(io, options, checkIndex);
  const broken = checks.filter(({ violations }) => violations > 0);
  if (options.json) io.json({ ok: broken.length === 0, checks });
  else if (broken.length === 0) io.say(`The index is sound: ${plural(checks.length, "check")} passed.`);
  else for (const { name, violations } of broken) io.print(`${violations} ${PROBLEMS[name]}`);
  return broken.length === 0 ? EXIT.done : EXIT.failed;
}
