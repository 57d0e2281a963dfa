/** `hub token invite|list|revoke`: invitations and the tokens of machines. */
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural } from "../../../base/text.ts";
import type { Database } from "../../../hub/database/connect.ts";
import { addPerson, findPerson, grant } from "../../../hub/people/people.ts";
import { invite, listDevices, revoke } from "../../../hub/people/tokens.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { table } from "../../render/layout/table.ts";
import { age, moment } from "../../render/layout/time.ts";
import type { Io } from "../../terminal/io.ts";
import type { hubTokenCommand } from "./commands.ts";
import { inviteLink, withDatabase } from "./database.ts";

type Options = OptionsOf<typeof hubTokenCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { action, who } = options;
  const actions = { invite: inviteOne, list: listAll, revoke: revokeOne };
  const chosen = Object.hasOwn(actions, action) ? actions[action as keyof typeof actions] : undefined;
  if (!chosen)
    throw new UserError("usage", `There is no action "${action}".`, "The actions are invite, list and revoke.");
  if (who === undefined && action !== "list") throw new UserError("usage", `Name the person to ${action}.`);
  await withDatabase(io, options, (database) => chosen(database, { ...options, who: who ?? "" }, io));
}

type WithWho = Options & { who: string };

async function inviteOne(database: Database, options: WithWho, io: Io): Promise<void> {
  const { who, role, email, reads = [], level = "everything" } = options;
  const isNew = !(await findPerson(database, who));
  if (!isNew && (role || email || reads.length > 0))
    throw new UserError("usage", `${who} is already in the team.`, "`backtrail hub grant` changes what they may read.");
  if (isNew)
    await addPerson(database, {
      name: who,
      email: email ?? null,
      role: role ?? "member",
      readsAll: reads.includes("all") ? level : null,
    });
  for (const repository of reads) if (repository !== "all") await grant(database, who, repository, level);
  const { invitation, expiresAt } = await invite(database, who);
  const link = inviteLink(options.url, invitation);
  if (options.json) {
    io.json({ person: who, link, expiresAt });
    return;
  }
  if (isNew && reads.length === 0 && role !== "reader")
    io.say(`${who} sees only their own turns. \`backtrail hub grant ${who} <repository>\` shows them more.`);
  io.say(`${who} joins with this link, once, until ${moment(expiresAt)}:`);
  io.print(link);
}

async function listAll(database: Database, { json }: Options, io: Io): Promise<void> {
  const devices = await listDevices(database);
  if (json) {
    io.json({ devices });
    return;
  }
  const rows = devices.map(({ id, person, name, lastSeenAt, revokedAt }) => [
    id,
    oneLine(person),
    revokedAt ? "revoked" : lastSeenAt ? age(lastSeenAt, now()) : "never seen",
    oneLine(name),
  ]);
  for (const line of table(rows, io.out.columns)) io.print(line);
}

async function revokeOne(database: Database, { who, json }: WithWho, io: Io): Promise<void> {
  const revoked = await revoke(database, who);
  if (json) {
    io.json({ revoked: revoked.tokens, invitations: revoked.invitations });
    return;
  }
  const parts = [
    ...(revoked.tokens > 0 ? [plural(revoked.tokens, "token")] : []),
    ...(revoked.invitations > 0 ? [plural(revoked.invitations, "open invitation")] : []),
  ];
  if (parts.length === 0)
    throw new UserError(
      "not-found",
      `"${who}" has neither a valid token nor an open invitation.`,
      "`backtrail hub token list` shows all machines.",
    );
  io.say(`Revoked ${parts.join(" and ")}.`);
}
