/** `hub audit`: lists who read or wrote what; `--keep` deletes older entries. */
import { oneLine, plural, shorten } from "../../../base/text.ts";
import { readAudit, trimAudit } from "../../../hub/people/audit.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { table } from "../../render/layout/table.ts";
import { moment } from "../../render/layout/time.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubAuditCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubAuditCommand>;

const LIMIT = 50;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { person = null, limit = LIMIT, keep, json } = options;
  await withDatabase(io, options, async (database) => {
    if (keep !== undefined) {
      const deleted = await trimAudit(database, keep);
      if (json) io.json({ deleted });
      else io.say(`Deleted ${plural(deleted, "entry", "entries")} older than ${plural(keep, "day")}.`);
      return;
    }
    const entries = await readAudit(database, { person, limit });
    if (json) {
      io.json({ entries });
      return;
    }
    const rows = entries.map(({ at, person: who, device, action, detail }) => [
      moment(at),
      oneLine(who ?? "(at the database)"),
      oneLine(device ?? "-"),
      action,
      shorten(oneLine(JSON.stringify(detail)), 120),
    ]);
    for (const line of table(rows, io.out.columns)) io.print(line);
  });
}
