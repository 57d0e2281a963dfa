/** `hub rebuild`: reads every source from the beginning, and reports how it compares with the index. */
import { oneLine } from "../../../base/text.ts";
import { Months } from "../../../hub/ingest/months.ts";
import { listSources, type ReadResult, readSource } from "../../../hub/sources/read.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubRebuildCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";
import { NO_SOURCES, summary } from "./source.ts";

type Options = OptionsOf<typeof hubRebuildCommand>;

export async function run(options: Options, io: Io): Promise<number> {
  return withDatabase(io, options, async (database) => {
    const results: ReadResult[] = [];
    for (const source of await listSources(database))
      results.push(await readSource(database, new Months(database), source, { whole: true }));
    const isEqual = results.every(({ different }) => different.length === 0);
    if (options.json) io.json({ equal: isEqual, sources: results });
    else {
      for (const result of results) io.say(`${oneLine(result.source)}: ${summary(result)}.`);
      if (results.length === 0) io.say(NO_SOURCES);
    }
    return isEqual ? EXIT.done : EXIT.failed;
  });
}
