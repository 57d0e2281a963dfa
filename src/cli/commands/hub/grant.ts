/** `hub grant <person> <repository> [level]`: sets what a person may read of other people's turns. */
import { oneLine } from "../../../base/text.ts";
import { grant } from "../../../hub/people/people.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { requireLevel } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubGrantCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubGrantCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { person, repository, level: wanted = "everything", json } = options;
  const level = wanted === "none" ? null : requireLevel(wanted, ["none"]);
  await withDatabase(io, options, (database) => grant(database, person, repository, level));
  if (json) io.json({ person, repository, level });
  else {
    const what = repository === "all" ? "every repository" : oneLine(repository);
    io.say(
      level === null ? `${person} may no longer read ${what}.` : `${person} may read ${what} up to the level ${level}.`,
    );
  }
}
