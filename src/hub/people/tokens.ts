/**
 * Invitations and device tokens. Both are random and only their digests are stored: who reads the database cannot act
 * as a person. An invitation works once and expires; a token works until it is revoked.
 */
import { digest } from "../../base/digest.ts";
import type { Role } from "../../team/levels.ts";
import type { JoinAnswer } from "../../team/protocol.ts";
import type { Database, Query } from "../database/connect.ts";
import { HubProblemError } from "../problems.ts";

export type Scope = "send" | "read";

/** The person and device behind a request. */
export interface Caller {
  person: number;
  name: string;
  role: Role;
  device: string;
  scopes: readonly Scope[];
}

export interface Device {
  id: string;
  person: string;
  name: string;
  createdAt: string;
  lastSeenAt: string | null;
  revokedAt: string | null;
}

const INVITATION_HOURS = 72;
/** How exactly `last_seen_at` is kept: a write per request would cost more than it tells. */
const SEEN_MINUTES = 10;

/** Creates a one-time invitation and returns its secret, which is stored nowhere. */
export async function invite(database: Database, person: string): Promise<{ invitation: string; expiresAt: string }> {
  const invitation = `bti_${randomText(24)}`;
  return database.asOwner(async (query) => {
    const [row] = await query<{ expires_at: Date }>(
      `INSERT INTO invitations (digest, person_id, expires_at)
       SELECT $1, id, now() + make_interval(hours => ${INVITATION_HOURS}) FROM people WHERE name = $2 AND removed_at IS NULL
       RETURNING expires_at`,
      digestOf(invitation),
      person,
    );
    if (!row) throw unknownPerson(person);
    await noteAction(query, "invite", { person });
    return { invitation, expiresAt: row.expires_at.toISOString() };
  });
}

/** Exchanges an invitation for a token; undefined if it was used before, has expired or never existed. */
export async function join(database: Database, invitation: string, device: string): Promise<JoinAnswer | undefined> {
  const id = randomText(9);
  const secret = randomText(32);
  return database.asOwner(async (query) => {
    const [used] = await query<{ person_id: number; name: string; role: Role }>(
      `UPDATE invitations i SET used_at = now() FROM people p
       WHERE i.digest = $1 AND i.used_at IS NULL AND i.expires_at > now() AND p.id = i.person_id AND p.removed_at IS NULL
       RETURNING i.person_id, p.name, p.role`,
      digestOf(invitation),
    );
    if (!used) return undefined;
    await query(
      "INSERT INTO devices (id, person_id, name, secret_digest, scopes) VALUES ($1, $2::integer, $3, $4, $5::text[])",
      id,
      used.person_id,
      device,
      digestOf(secret),
      `{${scopesOf(used.role).join(",")}}`,
    );
    await query(
      "INSERT INTO audit (person_id, device_id, action) VALUES ($1::integer, $2, 'join')",
      used.person_id,
      id,
    );
    return { token: `btd_${id}_${secret}`, device: id, person: used.name, role: used.role };
  });
}

/** The caller behind a token; undefined if it is wrong or revoked. */
export async function callerOf(database: Database, token: string): Promise<Caller | undefined> {
  const [, id = "", secret = ""] = /^btd_([A-Za-z0-9-]{12})_([A-Za-z0-9-]{43})$/.exec(token) ?? [];
  if (id === "") return undefined;
  return database.asOwner(async (query) => {
    const [row] = await query<{ person: number; name: string; role: Role; scopes: Scope[]; seen: boolean }>(
      `SELECT p.id AS person, p.name, p.role, d.scopes,
         coalesce(d.last_seen_at > now() - interval '${SEEN_MINUTES} minutes', false) AS seen
       FROM devices d JOIN people p ON p.id = d.person_id
       WHERE d.id = $1 AND d.secret_digest = $2 AND d.revoked_at IS NULL AND p.removed_at IS NULL`,
      id,
      digestOf(secret),
    );
    if (!row) return undefined;
    if (!row.seen) await query("UPDATE devices SET last_seen_at = now() WHERE id = $1", id);
    return { person: row.person, name: row.name, role: row.role, device: id, scopes: [...row.scopes] };
  });
}

export async function listDevices(database: Database): Promise<Device[]> {
  const rows = await database.asOwner((query) =>
    query<{ id: string; person: string; name: string; created_at: Date; seen: Date | null; revoked_at: Date | null }>(
      `SELECT d.id, p.name AS person, d.name, d.created_at, d.last_seen_at AS seen, d.revoked_at
       FROM devices d JOIN people p ON p.id = d.person_id ORDER BY p.name, d.created_at`,
    ),
  );
  return rows.map((row) => ({
    id: row.id,
    person: row.person,
    name: row.name,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.seen?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  }));
}

/** Revokes a device, or all devices and open invitations of a person. Returns how many there were. */
export async function revoke(database: Database, what: string): Promise<{ tokens: number; invitations: number }> {
  return database.asOwner(async (query) => {
    const rows = await query<{ id: string }>(
      `UPDATE devices d SET revoked_at = now() FROM people p
       WHERE p.id = d.person_id AND d.revoked_at IS NULL AND (d.id = $1 OR p.name = $1) RETURNING d.id`,
      what,
    );
    const open = await query(
      `UPDATE invitations i SET expires_at = now() FROM people p
       WHERE p.id = i.person_id AND p.name = $1 AND i.used_at IS NULL AND i.expires_at > now() RETURNING i.person_id`,
      what,
    );
    await noteAction(query, "revoke", { what, tokens: rows.length, invitations: open.length });
    return { tokens: rows.length, invitations: open.length };
  });
}

/** The audit log also has what an administrator does at the database, without a person's name. */
export async function noteAction(query: Query, action: string, detail: object): Promise<void> {
  await query("INSERT INTO audit (action, detail) VALUES ($1, $2::text::jsonb)", action, JSON.stringify(detail));
}

export function scopesOf(role: Role): Scope[] {
  return role === "reader" ? ["read"] : ["send", "read"];
}

export function unknownPerson(name: string): HubProblemError {
  return new HubProblemError("not-found", { kind: "no-person", name });
}

function digestOf(secret: string): Uint8Array {
  return digest("sha256", secret);
}

/** Base64 with letters, digits and hyphens only: `_` separates the parts of a token. */
function randomText(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)))
    .toString("base64url")
    .replaceAll("_", "-");
}
