/**
 * Recognizes names of secrets (`DB_PASSWORD`, `api_key`, `stripe_key`, `salt`, `PHPSESSID`), and names that only
 * mention one.
 */
import { isCapital, isSmall, isWord } from "../bytes.ts";

/** What a field's name says about its value. */
export type NameKind = "password" | "secret" | "key" | "salt" | "pin" | "session";

/** The words that make a name the name of a secret, in any case. */
export const NAMES: Readonly<Record<string, NameKind>> = {
  password: "password",
  passwd: "password",
  passphrase: "password",
  passcode: "password",
  pass: "password",
  sshpass: "password",
  pwd: "password",
  pw: "password",
  psk: "password",
  secret: "secret",
  secretkey: "secret",
  secretaccesskey: "secret",
  token: "secret",
  authtoken: "secret",
  api_key: "secret",
  apikey: "secret",
  "api-key": "secret",
  "api key": "secret",
  access_key: "secret",
  accesskey: "secret",
  "access-key": "secret",
  "access key": "secret",
  "private key": "secret",
  "secret key": "secret",
  "master key": "secret",
  "encryption key": "secret",
  "signing key": "secret",
  account_key: "secret",
  accountkey: "secret",
  auth_key: "secret",
  authkey: "secret",
  private_key: "secret",
  private_key_id: "secret",
  privatekey: "secret",
  "private-key": "secret",
  presharedkey: "secret",
  preshared_key: "secret",
  "unseal key": "secret",
  encryption_key: "secret",
  encryptionkey: "secret",
  signing_key: "secret",
  signingkey: "secret",
  master_key: "secret",
  masterkey: "secret",
  credential: "secret",
  auth: "secret",
  "x-auth": "secret",
  secret_key_base: "secret",
  key: "key",
  salt: "salt",
  pepper: "salt",
  pin: "pin",
  otp: "pin",
  "2fa code": "pin",
  "verification code": "pin",
  "one-time code": "pin",
  "door code": "pin",
  session_id: "session",
  "session-id": "session",
  "session id": "session",
  sessid: "session",
  sessionid: "session",
  "connect.sid": "session",
  aspxauth: "session",
  _session: "session",
};

/** Words that occur in others ("compass", "spinning"), so they must be separate. */
export const ALONE: ReadonlySet<string> = new Set([
  "pass",
  "pwd",
  "pw",
  "psk",
  "auth",
  "key",
  "salt",
  "pepper",
  "pin",
  "otp",
]);

/** Short words that are weaker evidence: a name that ends in one may only say where the value belongs. */
const MAX_SHORT_WORD = 4;
const PLACE =
  /^(?:[_-]?\d{1,3}|[_-]?(?:prod|production|dev|development|test|staging|stage|local|live|qa|old|new|base64|b64|hex|value|plain|raw)[_\w]{0,12})$/i;
const ALL_NAMES = Object.entries(NAMES);
const MAX_NAME = 48;
export const MAX_TAIL = 32;

/** Ends of names that describe a secret and don't contain it: `token_count`, `passwordField`, `secret_name`. */
const ABOUT =
  /(?:^|[_.-])(?:s|ids?|names?|files?|path|dir|ur[il]s?|endpoint|types?|counts?|length|len|size|limits?|budget|usage|expir\w*|ttl|at|age|fields?|labels?|placeholder|prefix|suffix|pattern|regexp?|policy|version|format|hint|alg|algorithm|env|var|manager|mgr|provider|service|store|ref|header|param|schema|rules?|reset|changed?|required|enabled|strength|input|form|error|message|text|page|handler|class|index|list|map|set|used|total|per|cost|rate|rounds?|stats?|ring|pair|board|code|press|down|up|event|hash|fingerprint|algo|bucket|arn|source|scheme|method|callback|response|request|result|model|window|string|bytes?)$/i;

/** Words before `key` in names of keys that are not secrets. */
const PLAIN_KEYS = new Set(
  "public pub primary foreign sort partition cache cached object row hash range unique index group dedupe idempotency storage query lookup composite parent child item node tree path file dir commit content chunk blob etag site publishable ssh gpg pgp known host id sub name map locale translation message event state prop react shortcut hot arrow press tab enter shift escape".split(
    " ",
  ),
);

export function endOfName(bytes: Uint8Array, wordEnd: number, to: number): number {
  const limit = Math.min(to, wordEnd + MAX_TAIL);
  let at = wordEnd;
  while (at < limit && (isWord(bytes[at]) || bytes[at] === 0x2d || bytes[at] === 0x2e)) at++;
  return at;
}

/** Whether the word between `start` and `end` makes the name around it (up to `nameEnd`) one that holds a secret. */
export function nameHolds(
  kind: NameKind,
  bytes: Uint8Array,
  from: number,
  start: number,
  end: number,
  nameEnd: number,
): boolean {
  if (nameEnd > end && !tailHolds(bytes, end, nameEnd)) return false;
  const isShort = end - start <= MAX_SHORT_WORD && (kind !== "secret" || end - start === 4);
  if (isShort && nameEnd > end && !PLACE.test(Buffer.from(bytes.subarray(end, nameEnd)).toString("latin1")))
    return false;
  if (kind === "key") return keyHolds(textBefore(bytes, from, start));
  // Agents call their sessions `sessionId`; cookies write it in one case, or with another word before it.
  return kind !== "session" || bytes[start - 1] === 0x5f || isOneCase(bytes, start, end);
}

/** Whether the key of a JSON object names a secret, and of which kind. */
export function kindOfKey(key: string): NameKind | undefined {
  const lower = key.toLowerCase();
  // The agents' own names for sessions.
  if (/^session[_-]?id$/.test(lower)) return undefined;
  const bytes = Buffer.from(key, "latin1");
  let found: NameKind | undefined;
  for (const [name, kind] of ALL_NAMES) {
    const at = lower.lastIndexOf(name);
    if (at < 0) continue;
    const end = at + name.length;
    if (ALONE.has(name) && !standsAlone(bytes, 0, at)) continue;
    if (!nameHolds(kind, bytes, 0, at, end, bytes.length)) continue;
    // `key` is the weakest evidence: prefer a longer word.
    if (kind !== "key") return kind;
    found = kind;
  }
  if (lower === "sid") return "session";
  return found ?? (isPartOfJwk(key) ? "key" : undefined);
}

/** The private parts of a key in JSON (RFC 7517). */
function isPartOfJwk(key: string): boolean {
  return /^(?:d|dp|dq|qi|k)$/.test(key);
}

export function standsAlone(bytes: Uint8Array, from: number, start: number): boolean {
  if (start === from || bytes[start] === 0x5f) return true;
  const before = bytes[start - 1] as number;
  if (isCapital(bytes[start] as number) && isSmall(before)) return true;
  return !isSmall(before) && !isCapital(before);
}

function tailHolds(bytes: Uint8Array, wordEnd: number, nameEnd: number): boolean {
  const first = bytes[wordEnd] as number;
  const last = bytes[wordEnd - 1] as number;
  if ((isSmall(first) && isSmall(last)) || (isCapital(first) && isCapital(last))) return false;
  const tail = Buffer.from(bytes.subarray(wordEnd, Math.min(nameEnd, wordEnd + MAX_TAIL * 4))).toString("latin1");
  return !ABOUT.test(tail.replace(/([a-z])([A-Z])/g, "$1_$2").replace(/^([A-Z])/, "_$1"));
}

/** The rest of the name, and the word before it: "our Stripe key". */
function textBefore(bytes: Uint8Array, from: number, start: number): string {
  let at = start > from && bytes[start - 1] === 0x20 ? start - 1 : start;
  while (
    at > from &&
    at > start - MAX_NAME &&
    (isWord(bytes[at - 1]) || bytes[at - 1] === 0x2d || bytes[at - 1] === 0x2e)
  )
    at--;
  return Buffer.from(bytes.subarray(at, start)).toString("latin1");
}

/** `stripe_`, `algolia_admin_`: a service that the key belongs to, and not a kind of public key. */
function keyHolds(before: string): boolean {
  const word = /([A-Za-z][a-z]{0,24}|[A-Z]{1,24})\d{0,4}[-_. ]{0,4}$/.exec(before)?.[1]?.toLowerCase();
  return word !== undefined && word.length > 1 && !PLAIN_KEYS.has(word);
}

function isOneCase(bytes: Uint8Array, start: number, end: number): boolean {
  let [small, capitals] = [false, false];
  for (let i = start; i < end; i++) {
    small ||= isSmall(bytes[i] as number);
    capitals ||= isCapital(bytes[i] as number);
  }
  return !(small && capitals);
}
