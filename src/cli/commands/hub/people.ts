/** `hub people`: everybody in the team, with roles and rights. */
import { oneLine, plural } from "../../../base/text.ts";
import { listPeople, type Person } from "../../../hub/people/people.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { table } from "../../render/layout/table.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubPeopleCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubPeopleCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  await withDatabase(io, options, async (database) => {
    const people = await listPeople(database);
    if (options.json) {
      io.json({ people });
      return;
    }
    const rows = people.map((person) => [
      oneLine(person.name),
      person.role,
      plural(person.devices, "machine"),
      rights(person),
    ]);
    for (const line of table(rows, io.out.columns)) io.print(line);
  });
}

function rights({ readsAll, grants }: Person): string {
  const all = readsAll === null ? [] : [`all: ${readsAll}`];
  const each = grants.map(({ repository, level }) => `${oneLine(repository)}: ${level}`);
  return [...all, ...each].join(", ") || "own turns only";
}
