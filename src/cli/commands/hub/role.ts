/** `hub role <person> <role>`: changes a person's role in the team. */
import { UserError } from "../../../base/errors.ts";
import { setRole } from "../../../hub/people/people.ts";
import { ROLES, type Role } from "../../../team/levels.ts";
import type { OptionsOf } from "../../program/spec.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubRoleCommand } from "./commands.ts";
import { withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubRoleCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { person, role, json } = options;
  if (!ROLES.includes(role as Role))
    throw new UserError("usage", `There is no role "${role}".`, `It is one of ${ROLES.join(", ")}.`);
  await withDatabase(io, options, (database) => setRole(database, person, role as Role));
  if (json) io.json({ person, role });
  else io.say(`${person} is ${role === "admin" ? "an" : "a"} ${role} now, on all of their machines.`);
}
