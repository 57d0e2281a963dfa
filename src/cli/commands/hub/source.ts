/** `hub source add|list|read|remove`: the git remotes that fill the index. */
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural } from "../../../base/text.ts";
import type { Database } from "../../../hub/database/connect.ts";
import { Months } from "../../../hub/ingest/months.ts";
import { addSource, listSources, type ReadResult, readSource, removeSource } from "../../../hub/sources/read.ts";
import { nameFromAddress } from "../../../team/sharing.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { table } from "../../render/layout/table.ts";
import { age } from "../../render/layout/time.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubSourceCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubSourceCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const actions = { add, list, read, remove };
  const { action, remote } = options;
  const chosen = Object.hasOwn(actions, action) ? actions[action as keyof typeof actions] : undefined;
  if (!chosen)
    throw new UserError("usage", `There is no action "${action}".`, "The actions are add, list, read and remove.");
  if (remote === undefined && (action === "add" || action === "remove"))
    throw new UserError("usage", "The remote is missing.", "Give the address of a git repository.");
  await withDatabase(io, options, (database) => chosen(database, { ...options, remote: remote ?? "" }, io));
}

export const NO_SOURCES = "There are no sources. Add one with `backtrail hub source add`.";

type WithRemote = Options & { remote: string };

async function add(database: Database, { remote, as, level = "everything", json }: WithRemote, io: Io): Promise<void> {
  const repository = as ?? nameFromAddress(remote);
  await addSource(database, { address: remote, repository, level });
  const source = (await listSources(database)).find(({ address }) => address === remote);
  if (!source) throw new Error("The source was removed meanwhile.");
  const result = await readSource(database, new Months(database), source, { whole: true }).catch((error: unknown) => {
    io.say(
      "The source is kept, and a hub tries again once a minute. `backtrail hub source remove` with its address removes it.",
    );
    throw error;
  });
  if (json) io.json({ repository, ...result });
  else io.say(`${oneLine(repository)}: ${summary(result)}.`);
}

async function list(database: Database, { json }: Options, io: Io): Promise<void> {
  const sources = await listSources(database);
  if (json) {
    io.json({ sources });
    return;
  }
  if (sources.length === 0) io.say(NO_SOURCES);
  const rows = sources.map(({ repository, address, readAt, error }) => [
    oneLine(repository),
    readAt ? age(readAt, now()) : "never read",
    error === null ? oneLine(address) : `${oneLine(address)}: ${oneLine(error)}`,
  ]);
  for (const line of table(rows, io.out.columns)) io.print(line);
}

async function read(database: Database, { remote, json }: WithRemote, io: Io): Promise<void> {
  const results: ReadResult[] = [];
  for (const source of await listSources(database))
    if (remote === "" || source.address === remote)
      results.push(await readSource(database, new Months(database), source, { whole: false }));
  if (json) io.json({ sources: results });
  else for (const result of results) io.say(`${oneLine(result.source)}: ${summary(result)}.`);
}

async function remove(database: Database, { remote, json }: WithRemote, io: Io): Promise<void> {
  if (!(await removeSource(database, remote)))
    throw new UserError("not-found", "There is no such source.", "`backtrail hub source list` shows them.");
  if (json) io.json({ removed: remote });
  else io.say("The source is no longer read. Its turns stay in the index.");
}

export function summary({ turns, same, different, forgotten }: ReadResult): string {
  const parts = [`${plural(turns, "turn")} read`, `${same} as in the index`];
  if (different.length > 0) parts.push(`${different.length} different from what a machine sent`);
  if (forgotten > 0) parts.push(`${plural(forgotten, "forgotten session")} left out`);
  return parts.join(", ");
}
