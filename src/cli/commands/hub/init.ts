/** `hub init [admin]`: creates or updates the index, and invites the first administrator. */
import { plural } from "../../../base/text.ts";
import { migrate } from "../../../hub/database/migrate.ts";
import { addPerson, findPerson } from "../../../hub/people/people.ts";
import { invite } from "../../../hub/people/tokens.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { moment } from "../../render/layout/time.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubInitCommand } from "./commands.ts";
import { inviteLink, withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubInitCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  await withDatabase(io, options, async (database) => {
    const { from, to } = await migrate(database);
    const { admin } = options;
    if (admin !== undefined && !(await findPerson(database, admin)))
      await addPerson(database, { name: admin, email: null, role: "admin", readsAll: "everything" });
    const invited = admin === undefined ? null : await invite(database, admin);
    const link = invited && inviteLink(options.url, invited.invitation);
    if (options.json) {
      io.json({ schema: to, applied: to - from, link, expiresAt: invited?.expiresAt ?? null });
      return;
    }
    io.say(from === to ? "The index is up to date." : `The index is ready: ${plural(to - from, "migration")} applied.`);
    if (!link) return;
    io.say(`${admin} joins with this link, once, until ${moment(invited?.expiresAt ?? "")}:`);
    io.print(link);
  });
}
