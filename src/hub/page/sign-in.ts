/**
 * Signing in to the hub's page: a machine that has a token asks for a link, and the browser that opens it first gets a
 * cookie. Links and cookies are random, and only their digests are stored; both end with the machine's token.
 */
import { digest } from "../../base/digest.ts";
import type { Database } from "../database/connect.ts";
import type { Caller } from "../people/tokens.ts";

const LINK_MINUTES = 10;
const BROWSER_HOURS = 12;
const SECRET = /^[\w-]{43}$/;

/** The secret of a link that signs in one browser. */
export async function makeLink(database: Database, { device }: Caller): Promise<{ link: string; expiresAt: string }> {
  const link = secret();
  return database.asOwner(async (query) => {
    await query("DELETE FROM links WHERE expires_at < now()");
    const [row] = await query<{ expires_at: Date }>(
      `INSERT INTO links (digest, device_id, expires_at) VALUES ($1, $2, now() + make_interval(mins => ${LINK_MINUTES}))
       RETURNING expires_at`,
      digest("sha256", link),
      device,
    );
    return { link, expiresAt: row?.expires_at.toISOString() ?? "" };
  });
}

/** The secret of the cookie; undefined if the link was used before, has expired, or never existed. */
export async function useLink(database: Database, link: unknown): Promise<string | undefined> {
  if (typeof link !== "string" || !SECRET.test(link)) return undefined;
  const cookie = secret();
  return database.asOwner(async (query) => {
    const [used] = await query<{ device_id: string }>(
      "DELETE FROM links WHERE digest = $1 AND expires_at > now() RETURNING device_id",
      digest("sha256", link),
    );
    if (!used) return undefined;
    await query("DELETE FROM browsers WHERE expires_at < now()");
    await query(
      `INSERT INTO browsers (digest, device_id, expires_at) VALUES ($1, $2, now() + make_interval(hours => ${BROWSER_HOURS}))`,
      digest("sha256", cookie),
      used.device_id,
    );
    await query(
      "INSERT INTO audit (person_id, device_id, action) SELECT person_id, id, 'sign-in' FROM devices WHERE id = $1",
      used.device_id,
    );
    return cookie;
  });
}

/** Who is behind a cookie; undefined if it is wrong, has expired, or the machine's token was revoked. */
export async function browserOf(database: Database, cookie: string): Promise<Caller | undefined> {
  if (!SECRET.test(cookie)) return undefined;
  return database.asOwner(async (query) => {
    const [row] = await query<Omit<Caller, "scopes">>(
      `SELECT p.id AS person, p.name, p.role, d.id AS device
       FROM browsers b JOIN devices d ON d.id = b.device_id JOIN people p ON p.id = d.person_id
       WHERE b.digest = $1 AND b.expires_at > now() AND d.revoked_at IS NULL AND p.removed_at IS NULL`,
      digest("sha256", cookie),
    );
    return row && { ...row, scopes: ["read"] };
  });
}

export async function signOut(database: Database, cookie: string): Promise<void> {
  await database.asOwner((query) => query("DELETE FROM browsers WHERE digest = $1", digest("sha256", cookie)));
}

function secret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}
